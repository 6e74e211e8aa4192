// Answers of the server that a job's events overtake on their way: what was asked before the last change of status is old.

/** Knows which answers are old. */
export class Answers {
  #clock = 0;
  /** When the status of each job was last heard of. */
  readonly #heardAt = new Map<string, number>();

  /** A status event of a job has come. */
  hear(id: string): void {
    this.#clock += 1;
    this.#heardAt.set(id, this.#clock);
  }

  /** To be called with a question. Returns whether what it says of a job has been overtaken since. */
  ask(): (id: string) => boolean {
    const askedAt = this.#clock;
    return (id) => (this.#heardAt.get(id) ?? 0) > askedAt;
  }
}

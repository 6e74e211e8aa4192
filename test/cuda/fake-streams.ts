// Streams, events and captured graphs of the fake driver. Work runs when it is enqueued, or as late or as early as the waits between
// streams allow, so that a missing wait shows as a wrong result. Source of the rules of capturing: the CUDA driver API's stream chapter.

/** When work runs: as given; that of streams beside the first one as late, or as early, as the waits allow. */
export type FakeOrder = 'as given' | 'others late' | 'others early';

const codes = {
  INVALIDATED: 901,
  UNJOINED: 904,
  ISOLATION: 905,
  CAPTURED_EVENT: 907,
  UNSUPPORTED: 900,
  NOT_READY: 600,
};

/** One recording of an event. */
interface Ticket {
  done: boolean;
  asked: number;
  readonly stream: number | string;
  readonly capture: Capture | null;
}

type Item =
  | { readonly kind: 'work'; readonly run: () => void }
  | { readonly kind: 'record'; readonly ticket: Ticket }
  | { readonly kind: 'wait'; readonly ticket: Ticket };

interface Captured {
  readonly stream: number;
  readonly item: Item;
}

interface Capture {
  readonly origin: number;
  readonly items: Captured[];
  /** Streams that take part, and whether their last work is not waited for. */
  readonly unjoined: Map<number, boolean>;
}

export class FakeStreams {
  readonly #order: FakeOrder;
  readonly #queues = new Map<number | string, Item[]>();
  readonly #events = new Map<number, Ticket>();
  readonly #graphs = new Map<number, Capture>();
  #first: number | null = null;
  #capture: Capture | null = null;
  #launches = 0;

  constructor(order: FakeOrder) {
    this.#order = order;
  }

  create(stream: number): void {
    this.#first ??= stream;
  }

  isCapturing(stream: number): boolean {
    return this.#capture?.unjoined.has(stream) ?? false;
  }

  /** Whether work given to a stream may run after the call that gave it. */
  isDeferred(stream: number): boolean {
    return this.isCapturing(stream) || !this.#isEager(stream);
  }

  work(stream: number, run: () => void): void {
    this.#add(stream, { kind: 'work', run });
  }

  record(stream: number, event: number): void {
    const ticket = { done: false, asked: 0, stream, capture: this.isCapturing(stream) ? this.#capture : null };
    this.#events.set(event, ticket);
    this.#add(stream, { kind: 'record', ticket });
  }

  wait(stream: number, event: number): number {
    const ticket = this.#events.get(event);
    if (!ticket) return 0;
    if (ticket.capture === null) {
      if (this.isCapturing(stream)) return codes.ISOLATION;
    } else if (ticket.capture !== this.#capture) return codes.CAPTURED_EVENT;
    const { capture } = ticket;
    if (capture && typeof ticket.stream === 'number') {
      const last = capture.items.findLast((each) => each.stream === ticket.stream)?.item;
      if (last?.kind === 'record' && last.ticket === ticket) capture.unjoined.set(ticket.stream, false);
      if (stream !== capture.origin) capture.unjoined.set(stream, true);
    }
    this.#add(stream, { kind: 'wait', ticket });
    return 0;
  }

  /** A result code: not ready at the first question after work that has not run. */
  query(event: number): number {
    const ticket = this.#events.get(event);
    if (!ticket || ticket.done) return 0;
    if (ticket.capture) return codes.CAPTURED_EVENT;
    if (ticket.asked++ === 0) return codes.NOT_READY;
    this.#force(ticket);
    return 0;
  }

  block(event: number): number {
    const ticket = this.#events.get(event);
    if (ticket?.capture) return codes.CAPTURED_EVENT;
    if (ticket) this.#force(ticket);
    return 0;
  }

  synchronize(stream: number): number {
    if (this.isCapturing(stream)) return codes.UNSUPPORTED;
    this.#run(stream, null);
    return 0;
  }

  /** What freeing memory does. */
  drain(): void {
    for (const stream of [...this.#queues.keys()]) this.#run(stream, null);
  }

  beginCapture(stream: number): void {
    this.#capture = { origin: stream, items: [], unjoined: new Map([[stream, false]]) };
  }

  /** A result code; the graph is kept under its handle where it is good. */
  endCapture(graph: number): number {
    const capture = this.#capture;
    this.#capture = null;
    if (!capture) return codes.INVALIDATED;
    const isJoined = [...capture.unjoined].every(([stream, unjoined]) => stream === capture.origin || !unjoined);
    if (!isJoined) return codes.UNJOINED;
    this.#graphs.set(graph, capture);
    return 0;
  }

  instantiate(executable: number, graph: number): void {
    const capture = this.#graphs.get(graph);
    if (capture) this.#graphs.set(executable, capture);
  }

  forget(graph: number): void {
    this.#graphs.delete(graph);
  }

  /** Nodes of a graph. */
  countOf(graph: number): number {
    return this.#graphs.get(graph)?.items.filter(({ item }) => item.kind === 'work').length ?? 0;
  }

  /** A graph's branches run on streams of their own, between what its stream was given before and after. */
  launch(executable: number, stream: number): void {
    const capture = this.#graphs.get(executable);
    if (!capture) return;
    const launch = this.#launches++;
    const placeOf = (captured: number) => (captured === capture.origin ? stream : `${launch}/${captured}`);
    const tickets = new Map<Ticket, Ticket>();
    const fresh = (ticket: Ticket, at: number | string): Ticket => {
      const made = tickets.get(ticket) ?? { done: false, asked: 0, stream: at, capture: null };
      tickets.set(ticket, made);
      return made;
    };
    for (const { stream: captured, item } of capture.items) {
      const place = placeOf(captured);
      if (item.kind === 'work') this.#add(place, item);
      else if (item.kind === 'record') this.#add(place, { kind: 'record', ticket: fresh(item.ticket, place) });
      else this.#add(place, { kind: 'wait', ticket: fresh(item.ticket, place) });
    }
  }

  #isEager(stream: number | string): boolean {
    return this.#order === 'as given' || (stream === this.#first) === (this.#order === 'others late');
  }

  #add(stream: number | string, item: Item): void {
    const capture = this.#capture;
    if (capture && typeof stream === 'number' && capture.unjoined.has(stream)) {
      capture.items.push({ stream, item });
      if (item.kind === 'work' && stream !== capture.origin) capture.unjoined.set(stream, true);
      return;
    }
    const queue = this.#queues.get(stream) ?? [];
    this.#queues.set(stream, queue);
    queue.push(item);
    for (const each of [...this.#queues.keys()]) if (this.#isEager(each)) this.#run(each, null);
  }

  /** Runs a stream to the end of its queue, or until a ticket is done, and what it waits for. */
  #run(stream: number | string, until: Ticket | null): void {
    const queue = this.#queues.get(stream) ?? [];
    while (!until?.done) {
      const item = queue[0];
      if (!item) return;
      if (item.kind === 'wait') this.#force(item.ticket);
      // Forcing may have come round to this queue.
      if (queue[0] !== item) continue;
      queue.shift();
      if (item.kind === 'work') item.run();
      else if (item.kind === 'record') item.ticket.done = true;
    }
  }

  #force(ticket: Ticket): void {
    if (!ticket.done) this.#run(ticket.stream, ticket);
  }
}

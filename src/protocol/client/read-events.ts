// Server-sent events out of a byte stream. Source of the form: the HTML standard, section "Server-sent events".

/** One event as it stood in the stream. */
export interface ServerEvent {
  /** Last id seen, empty where there was none. */
  readonly id: string;
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** Events of a stream; comments and blocks without data are skipped. Ends with the stream. */
export async function* readEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder();
  let rest = '';
  let id = '';
  let event = '';
  let data: string[] = [];
  for await (const piece of stream) {
    rest += decoder.decode(piece, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { id, event: event === '' ? 'message' : event, data: data.join('\n') };
        event = '';
        data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'id') id = value;
      else if (field === 'event') event = value;
      else if (field === 'data') data.push(value);
    }
  }
}

import { setTimeout as wait } from 'node:timers/promises';

const PAUSE_MS = 50;

/** An event of `GET /v1/events`, with its data as it was sent. */
export interface ReadEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/** A client of the event stream that goes on after its last id when it is cut off. */
export interface EventReader {
  readonly events: readonly ReadEvent[];
  /** How many times it was connected. */
  connections(): number;
  /** The last id that it was given, with an event or without. */
  lastId(): string;
  stop(): Promise<void>;
}

export function readEvents(base: string, token: string, query = ''): EventReader {
  const over = new AbortController();
  const events: ReadEvent[] = [];
  let connections = 0;
  let lastId = '';
  const take = (block: string): void => {
    const fields = block
      .split('\n')
      .map((line) => [line.split(':', 1)[0] ?? '', line.replace(/^[^:]*: ?/, '')] as const);
    const valuesOf = (name: string): string[] => fields.filter(([field]) => field === name).map(([, value]) => value);
    lastId = valuesOf('id').at(-1) ?? lastId;
    const data = valuesOf('data');
    if (data.length > 0) events.push({ id: lastId, type: valuesOf('event').at(-1) ?? '', data: data.join('\n') });
  };
  const readOnce = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
    const response = await fetch(`${base}/v1/events${query}`, { headers, signal: over.signal });
    if (response.status !== 200 || response.body === null) return;
    connections += 1;
    let text = '';
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + piece).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) take(block);
    }
  };
  const reading = (async () => {
    while (!over.signal.aborted) {
      await readOnce().catch(() => undefined);
      await wait(PAUSE_MS);
    }
  })();
  return {
    events,
    connections: () => connections,
    lastId: () => lastId,
    stop: async () => {
      over.abort();
      await reading;
    },
  };
}

/** An event of a stream. */
export interface StreamedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/** A stream of events that a test reads as it arrives. */
export interface EventStream {
  readonly events: readonly StreamedEvent[];
  /** Where the stream goes on after a reconnect. */
  lastId(): string | undefined;
  /** Resolves when it ends or breaks off. */
  readonly ended: Promise<void>;
  leave(): void;
}

/** Opens `/v1/events`, from a place on if one is named. */
export async function openEventStream(
  base: string,
  token: string,
  { after, query = '' }: { readonly after?: string | undefined; readonly query?: string } = {},
): Promise<EventStream> {
  const leaving = new AbortController();
  const response = await fetch(`${base}/v1/events${query}`, {
    headers: { authorization: `Bearer ${token}`, ...(after === undefined ? {} : { 'last-event-id': after }) },
    signal: leaving.signal,
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`the stream answered ${response.status}: ${await response.text()}`);
  const events: StreamedEvent[] = [];
  let lastId: string | undefined;
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = fieldsOf(block);
        lastId = fields.get('id') ?? lastId;
        const data = fields.get('data');
        if (data !== undefined) events.push({ id: lastId ?? '', type: fields.get('event') ?? '', data });
      }
    }
  };
  return {
    events,
    lastId: () => lastId,
    ended: read(response.body).catch(() => undefined),
    leave: () => {
      leaving.abort();
    },
  };
}

/** The fields of a block; lines of one field are joined. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === '') continue;
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  return fields;
}

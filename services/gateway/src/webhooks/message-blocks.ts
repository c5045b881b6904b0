import type { Clock } from '@reelgate/platform/clock';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Event } from '@reelgate/proto/tasks/v1/webhook';
import type { WatchEventsResponse } from '@reelgate/proto/tasks/v1/webhook_service';

/** Maximum time in which a client gets nothing. */
const HEARTBEAT_MS = 15_000;
/** A client that names its place waits this long for its head, because the place can be refused until then. */
const REFUSAL_MS_MAX = 1000;

export interface MessageBlocksOptions {
  readonly messages: AsyncGenerator<WatchEventsResponse, void>;
  readonly clock: Clock;
  /** The cursor at which the client's last stream ended; undefined if the client names none. */
  readonly cursor: string | undefined;
  readonly encodeBody: (event: Event) => Promise<string>;
}

/**
 * The text of a stream, block by block: its events, and between them heartbeats and the cursors of events that do not
 * match. A message is read once the block before it is taken.
 */
export async function* messageBlocks({
  messages,
  clock,
  cursor,
  encodeBody,
}: MessageBlocksOptions): AsyncGenerator<string, void> {
  let next = requestNext(messages);
  // without a place the first message has it
  const firstMs = cursor === undefined ? undefined : REFUSAL_MS_MAX;
  let last: string | undefined;
  try {
    for (;;) {
      const result = await waitForNext(next, clock, last === undefined ? firstMs : HEARTBEAT_MS);
      if (result === undefined) {
        yield last === undefined ? firstBlock(cursor) : COMMENT_BLOCK;
        last ??= cursor;
        continue;
      }
      if (result.done === true) return;
      const { event, cursor: at } = result.value;
      if (last === undefined) yield firstBlock(event === undefined ? at : cursor);
      else if (event === undefined) yield cursorOrCommentBlock(at, last);
      if (event !== undefined) yield eventBlock({ cursor: at, type: event.type, body: await encodeBody(event) });
      last = at;
      next = requestNext(messages);
    }
  } finally {
    // Not awaited: the messages may wait for one.
    messages.return().then(undefined, () => undefined);
  }
}

/** A reader that ends early leaves a read behind, which may fail. */
function requestNext(messages: AsyncGenerator<WatchEventsResponse, void>): ReturnType<typeof messages.next> {
  const next = messages.next();
  next.catch(() => undefined);
  return next;
}

/** Returns a block with the new cursor of the stream, or a comment if the cursor has not changed. */
function cursorOrCommentBlock(cursor: string, last: string): string {
  return cursor === last ? COMMENT_BLOCK : cursorBlock(cursor);
}

/** Resolves to the next result, or to undefined if it does not come within `ms`. */
async function waitForNext<T>(next: Promise<T>, clock: Clock, ms: number | undefined): Promise<T | undefined> {
  if (ms === undefined) return next;
  const came = new AbortController();
  try {
    return await Promise.race([next, clock.sleep(ms, came.signal).then(() => undefined)]);
  } finally {
    came.abort(NOT_AWAITED);
  }
}

const LINE_END = /\r\n|\r|\n/;
/** The wait of a client before it reconnects. */
const RETRY_MS = 3000;

/** A comment, which clients ignore: it shows that the stream is alive. */
const COMMENT_BLOCK = ':\n\n';

/** The first block. A client that is cut off before the first event goes on from its id. */
export function firstBlock(cursor: string | undefined): string {
  return `${cursor === undefined ? '' : `id: ${cursor}\n`}retry: ${RETRY_MS}\n: events follow\n\n`;
}

/** A block without data is no event, but its id is where the client goes on. */
export function cursorBlock(cursor: string): string {
  return `id: ${cursor}\n\n`;
}

/** An event. Clients join the lines of its data again. */
export function eventBlock({
  cursor,
  type,
  body,
}: {
  readonly cursor: string;
  readonly type: string;
  readonly body: string;
}): string {
  const data = body
    .split(LINE_END)
    .map((line) => `data: ${line}\n`)
    .join('');
  return `id: ${cursor}\nevent: ${type}\n${data}\n`;
}

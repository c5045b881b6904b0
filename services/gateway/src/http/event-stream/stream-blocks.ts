const LINE_END = /\r\n|\r|\n/;
/** The wait of a client before it reconnects. */
const RETRY_MS = 3000;

/** A comment, which clients ignore: it shows that the stream is alive. */
export const COMMENT_BLOCK = ':\n\n';

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

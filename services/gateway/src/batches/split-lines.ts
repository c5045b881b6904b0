const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** A line of a file, without its end. */
export interface FileLine {
  /** From 1. Empty lines count too. */
  readonly number: number;
  /** Undefined: the line is longer than it may be. */
  readonly bytes: Buffer | undefined;
}

/** Splits a file into its lines. It holds one line at a time, of at most `bytesMax` bytes; a longer one has no bytes. */
export async function* splitLines(file: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<FileLine> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  const take = (part: Buffer): void => {
    length += part.length;
    if (length <= bytesMax) parts.push(part);
    else parts = [];
  };
  const end = (): FileLine => {
    number += 1;
    const bytes = length <= bytesMax ? dropReturn(Buffer.concat(parts)) : undefined;
    parts = [];
    length = 0;
    return { number, bytes };
  };
  for await (const chunk of file) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      take(bytes.subarray(from, at));
      yield end();
      from = at + 1;
    }
    if (from < bytes.length) take(bytes.subarray(from));
  }
  if (length > 0) yield end();
}

function dropReturn(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}

import { Readable } from 'node:stream';
import type { Problem } from '@reelgate/platform/problem';
import type { InlineMedia } from '../dialects/dialect.ts';
import { refuse } from '../refusals.ts';

/** The characters to decode at a time; a multiple of four. */
const STEP = 1 << 20;
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
const WHITE_SPACE = /[\t\n\f\r ]/;
const WHITE_SPACES = /[\t\n\f\r ]+/g;

export interface InlineStream {
  readonly stream: Readable;
  /** The stream yields at most this many bytes. */
  readonly bytesMax: number;
  /** Set once the text proves not to be base64, which ends the stream with an error. */
  readonly fault: () => Problem | undefined;
}

/** Streams the bytes of an inline medium. It decodes base64 only as fast as the reader consumes it. */
export function openInlineStream({ bytes, field }: InlineMedia): InlineStream {
  if ('chunks' in bytes) {
    return {
      stream: Readable.from(bytes.chunks, { objectMode: false }),
      bytesMax: bytes.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),
      fault: () => undefined,
    };
  }
  let fault: Problem | undefined;
  const refuseText = (message: string): Problem => (fault = refuse('invalid_media', { field, message }));
  return {
    stream: Readable.from(decodeBase64(bytes.base64, refuseText), { objectMode: false }),
    bytesMax: Math.ceil(bytes.base64.length / 4) * 3,
    fault: () => fault,
  };
}

/** Ignores white space in base64, as browsers do. */
function* decodeBase64(written: string, refuseText: (message: string) => Problem): Generator<Buffer> {
  const text = WHITE_SPACE.test(written) ? written.replace(WHITE_SPACES, '') : written;
  const length = text.length - countPadding(text);
  if (length === 0) throw refuseText('must not be empty');
  if (length % 4 === 1) throw refuseText('must be complete base64; it is truncated');
  for (let at = 0; at < length; at += STEP) {
    const part = text.slice(at, Math.min(length, at + STEP));
    if (NOT_BASE64.test(part)) throw refuseText('must be base64 (A-Z a-z 0-9 + /)');
    yield Buffer.from(part, 'base64');
  }
}

function countPadding(text: string): number {
  if (text.endsWith('==')) return 2;
  return text.endsWith('=') ? 1 : 0;
}

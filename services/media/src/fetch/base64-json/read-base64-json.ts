import type { JsonPointer } from '../../domain/json-pointer.ts';
import { formatBytes } from '../../domain/media-rules.ts';
import { FetchFault } from '../../domain/fetch-fault.ts';
import { newJsonWalk } from './json-walk.ts';
import type { WalkFault } from './json-walk.ts';

/** The maximum number of bytes of the JSON outside the wanted string. */
export const JSON_AROUND_BYTES_MAX = 4 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

const FAULTS: Readonly<Record<WalkFault | 'no Base64', string>> = {
  'no JSON': 'must come inside a whole JSON text',
  'no text there': 'must be a string at its place in a JSON text; there is none',
  ambiguous: 'must be at one place in a JSON text; a name on the way to it occurs twice',
  'no Base64': 'must be Base64 inside a JSON text; its string is not',
};

/** Takes the bytes out of the Base64 string at one place of a JSON text that arrives in chunks. */
export interface Base64JsonReader {
  /** Returns the decoded bytes of this chunk. Throws a FetchFault. */
  take(chunk: Uint8Array): Buffer;
  /** Throws a FetchFault if the text is not whole, or has no such string. */
  finish(): void;
}

/** Creates a reader that holds a few bytes between two chunks, whatever the size of the text. */
export function newBase64JsonReader(pointer: JsonPointer): Base64JsonReader {
  const decoder = newBase64Decoder();
  let out = NOTHING;
  let outLength = 0;
  let aroundBytes = 0;
  const walk = newJsonWalk(pointer, (byte) => {
    out[outLength] = byte;
    outLength += 1;
  });

  const copyPlain = (chunk: Buffer, from: number): number => {
    const count = walk.countPlain(chunk, from);
    chunk.copy(out, outLength, from, from + count);
    outLength += count;
    return count;
  };
  const step = (byte: number): void => {
    const wasInWanted = walk.isInWanted();
    const fault = walk.step(byte);
    if (fault !== undefined) throw toFault(fault);
    if (wasInWanted) return;
    aroundBytes += 1;
    if (aroundBytes > JSON_AROUND_BYTES_MAX)
      throw new FetchFault('too_large', `must have at most ${formatBytes(JSON_AROUND_BYTES_MAX)} of JSON around it`);
  };
  return {
    take: (bytes) => {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      // a byte of the chunk stands for one byte of the string at most
      [out, outLength] = [Buffer.allocUnsafe(chunk.length), 0];
      for (let at = 0; at < chunk.length;) {
        const plain = copyPlain(chunk, at);
        if (plain === 0) step(chunk[at] ?? 0);
        at += plain === 0 ? 1 : plain;
      }
      const decoded = decoder.take(out.subarray(0, outLength));
      out = NOTHING;
      if (decoded === undefined) throw toFault('no Base64');
      return decoded;
    },
    finish: () => {
      const fault = walk.end();
      if (fault !== undefined) throw toFault(fault);
      if (!decoder.canEnd()) throw toFault('no Base64');
    },
  };
}

function toFault(fault: keyof typeof FAULTS): FetchFault {
  return new FetchFault('malformed', FAULTS[fault]);
}

const CHARACTERS_IN_GROUP = 4;
const PADDING = '=';

/** Decodes a Base64 text that arrives in pieces. It holds three characters at most. */
interface Base64Decoder {
  /** Returns the bytes of all whole groups so far, or undefined if the text is not Base64. */
  take(piece: Buffer): Buffer | undefined;
  /** Reports whether the text can end here. */
  canEnd(): boolean;
}

/**
 * Creates a decoder that accepts what an encoder writes: the standard alphabet and whole groups, without spaces, stray
 * bits, or characters after the padding.
 */
function newBase64Decoder(): Base64Decoder {
  let left = '';
  let isPadded = false;
  return {
    take: (piece) => {
      if (piece.length === 0) return piece;
      if (isPadded) return undefined;
      const text = left + piece.toString('latin1');
      const whole = text.slice(0, text.length - (text.length % CHARACTERS_IN_GROUP));
      left = text.slice(whole.length);
      isPadded = whole.endsWith(PADDING);
      const bytes = Buffer.from(whole, 'base64');
      // the decoder of Node skips invalid characters, so the bytes must encode to the same text again
      return bytes.toString('base64') === whole && (!isPadded || left === '') ? bytes : undefined;
    },
    canEnd: () => left === '',
  };
}

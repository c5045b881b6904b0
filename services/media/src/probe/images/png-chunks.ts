import { closeSync, openSync, readSync } from 'node:fs';
import type { ProbeFault } from '../../domain/media-facts.ts';

const SIGNATURE_BYTES = 8;
/** The length and the name of a chunk. A checksum of four bytes follows its data. */
const HEAD_BYTES = 8;
const NAME_AT = 4;
const SUM_BYTES = 4;
/** The most chunks before the pixels. A usual picture has a dozen. */
const CHUNKS_MAX = 4096;
/** Compressed texts, which are unpacked before the pixels: up to a thousandfold, with seconds for thirty megabytes. */
const PACKED: ReadonlySet<string> = new Set(['iCCP', 'iTXt', 'zTXt']);
const PACKED_BYTES_MAX = 1024 * 1024;

interface Chunk {
  readonly name: string;
  readonly bytes: number;
}

/** Refuses a PNG that is animated or has too many chunks or texts, before its pixels are decoded. */
export function findPngFault(path: string): ProbeFault | undefined {
  const descriptor = openSync(path, 'r');
  try {
    let at = SIGNATURE_BYTES;
    let packedBytes = 0;
    for (let chunks = 0; chunks < CHUNKS_MAX && packedBytes <= PACKED_BYTES_MAX; chunks += 1) {
      const chunk = readChunk(descriptor, at);
      if (chunk === undefined || chunk.name === 'IDAT') return undefined;
      if (chunk.name === 'acTL') return 'several_frames';
      if (PACKED.has(chunk.name)) packedBytes += chunk.bytes;
      at += HEAD_BYTES + chunk.bytes + SUM_BYTES;
    }
    return 'overrun';
  } finally {
    closeSync(descriptor);
  }
}

function readChunk(descriptor: number, at: number): Chunk | undefined {
  const head = Buffer.alloc(HEAD_BYTES);
  const bytesRead = readSync(descriptor, head, 0, HEAD_BYTES, at);
  return bytesRead < HEAD_BYTES ? undefined : { name: head.toString('latin1', NAME_AT), bytes: head.readUInt32BE(0) };
}

import { closeSync, openSync, readSync } from 'node:fs';
import type { ProbeFault } from '../domain/media-facts.ts';

const SIGNATURE_BYTES = 8;
/** The length and the name of a chunk; behind its data stands a sum of four bytes. */
const HEAD_BYTES = 8;
const NAME_AT = 4;
const SUM_BYTES = 4;
/** Before the pixels. A picture that somebody drew has a dozen. */
const CHUNKS_MAX = 4096;
/** What is written small and read large before anybody has seen a pixel: a thousandfold, at seconds for thirty megabytes of it. */
const PACKED: ReadonlySet<string> = new Set(['iCCP', 'iTXt', 'zTXt']);
const PACKED_BYTES_MAX = 1024 * 1024;

interface Chunk {
  readonly name: string;
  readonly bytes: number;
}

/** What speaks against a PNG before its pixels: that it moves, wherever it says so, or that it holds more beside them than any picture. */
export function faultOfPng(path: string): ProbeFault | undefined {
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

import type { FileHandle } from 'node:fs/promises';
import type { ByteRange } from './blob-store.ts';

const PIECE_BYTES = 256 * 1024;
/** Buffers for the next reader: used memory is many times cheaper than new memory. */
const SPARES_MAX = 64;
const spares: Buffer[] = [];

/** Reads a file into two alternating buffers: one is sent while the other is filled. It closes the file at the end. */
export async function* filePieces(
  file: FileHandle,
  { start, end }: ByteRange = { start: 0, end: Number.MAX_SAFE_INTEGER },
): AsyncGenerator<Uint8Array> {
  const buffers = [takeBuffer(), takeBuffer()] as const;
  let at = start;
  const fill = async (buffer: Buffer): Promise<Uint8Array> => {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE_BYTES, end + 1 - at), at);
    at += bytesRead;
    return buffer.subarray(0, bytesRead);
  };
  let next = fill(buffers[0]);
  let isOver = false;
  try {
    for (let round = 1; ; round += 1) {
      const piece = await next;
      isOver = piece.byteLength === 0;
      if (isOver) return;
      next = at > end ? Promise.resolve(buffers[0].subarray(0, 0)) : fill(buffers[round % 2] ?? buffers[0]);
      yield piece;
    }
  } finally {
    // a running read still writes into its buffer
    await next.catch(() => undefined);
    // a reader that left early may still hold a piece
    if (isOver && spares.length < SPARES_MAX) spares.push(...buffers);
    await file.close();
  }
}

function takeBuffer(): Buffer {
  return spares.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
}

/** Smaller chunks are copied together. */
const SMALL_BYTES = 1024;
const BLOCK_BYTES_MIN = 512;
const BLOCK_BYTES_MAX = 64 * 1024;

/** The bytes of a body in memory. */
export interface CollectedBytes {
  readonly add: (chunk: Buffer) => undefined;
  list(): Buffer[];
  clear(): void;
}

/**
 * Collects bytes in about as much memory as they have. A buffer takes some hundred bytes in addition to its own, so a
 * body that arrives byte by byte would take more than a hundred times its size. A block is as large as all bytes before
 * it.
 */
export function collectBytes(): CollectedBytes {
  let chunks: Buffer[] = [];
  let block: Buffer | undefined;
  let filled = 0;
  let total = 0;
  const endBlock = (): void => {
    if (block !== undefined) chunks.push(block.subarray(0, filled));
    block = undefined;
  };
  return {
    add: (chunk) => {
      total += chunk.length;
      if (block === undefined || filled + chunk.length > block.length) {
        endBlock();
        if (chunks.length === 0 || chunk.length >= SMALL_BYTES) {
          chunks.push(chunk);
          return undefined;
        }
        block = Buffer.allocUnsafeSlow(Math.min(Math.max(total, BLOCK_BYTES_MIN, chunk.length), BLOCK_BYTES_MAX));
        filled = 0;
      }
      filled += chunk.copy(block, filled);
      return undefined;
    },
    list: () => {
      endBlock();
      return chunks;
    },
    clear: () => {
      [chunks, block, filled, total] = [[], undefined, 0, 0];
    },
  };
}

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Reads the first `count` bytes of a file, or all of a shorter one. Parsers read synchronously: their process has no
 * other work, and on a busy machine each hop through the thread pool waits for a processor. A small movie takes half
 * the processor time that it took with asynchronous reads (0.5 ms against 1.0 ms).
 */
export function firstBytes(path: string, count: number): Uint8Array<ArrayBuffer> {
  const descriptor = openSync(path, 'r');
  try {
    const length = Math.min(count, fstatSync(descriptor).size);
    const bytes = new Uint8Array(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}

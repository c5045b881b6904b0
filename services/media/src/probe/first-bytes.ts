import { open } from 'node:fs/promises';

/** So many bytes from the beginning of a file, or all of a shorter one. */
export async function firstBytes(path: string, count: number): Promise<Uint8Array> {
  const handle = await open(path, 'r');
  try {
    const length = Math.min(count, (await handle.stat()).size);
    const { buffer, bytesRead } = await handle.read(new Uint8Array(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

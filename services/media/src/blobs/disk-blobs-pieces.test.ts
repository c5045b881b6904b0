import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { filePieces } from './disk-blobs.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'media-pieces-'));
const file = path.join(folder, 'file');
const WHOLE = Buffer.from(Array.from({ length: 1_200_001 }, (_, at) => at % 251));
writeFileSync(file, WHOLE);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const read = async (range?: { start: number; end: number }): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const piece of filePieces(await open(file), range)) parts.push(Buffer.from(piece));
  return Buffer.concat(parts);
};

test.each([
  [undefined, 0, WHOLE.length],
  [{ start: 0, end: 0 }, 0, 1],
  [{ start: 262_143, end: 262_144 }, 262_143, 262_145],
  [{ start: 5, end: 900_000 }, 5, 900_001],
  [{ start: 1_200_000, end: 9_999_999 }, 1_200_000, WHOLE.length],
  [{ start: 9_999_999, end: 10_000_000 }, 0, 0],
] as const)('the range %j of a file has exactly its bytes', async (range, from, to) => {
  expect((await read(range)).equals(WHOLE.subarray(from, to))).toBe(true);
});

test('each of many concurrent readers gets its own bytes, even if some leave early', async () => {
  const leaving = async (): Promise<boolean> => {
    for await (const piece of filePieces(await open(file)))
      return Buffer.from(piece).equals(WHOLE.subarray(0, piece.byteLength));
    return false;
  };
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, async (_, at) =>
      at % 3 === 0
        ? leaving()
        : (await read({ start: at * 100, end: 1_000_000 + at })).equals(WHOLE.subarray(at * 100, 1_000_001 + at)),
    ),
  );

  expect(outcomes).toEqual(outcomes.map(() => true));
});

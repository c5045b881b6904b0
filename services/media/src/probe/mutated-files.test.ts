import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { seededIntegers } from '../../testing/seeded-random.ts';
import { mp4 } from '../../testing/mp4.ts';
import { fixture } from '../../testing/origin.ts';
import { heic, wav } from '../../testing/pictures.ts';
import { ANY_ACCOUNT, startProbePool } from '../../testing/probe-pool-under-test.ts';

const FILES = 40;
const TEST_MS = 120_000;
/** Numbers that break parsers of tables. */
const NUMBERS = [0, 1, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-mutated-'));
const pool = startProbePool({ timeoutMs: 2000, heapBytes: 256 * 1024 ** 2 });
const [file, into, good] = ['file', 'into', 'good'].map((name) => path.join(folder, name)) as [string, string, string];
writeFileSync(good, fixture('image.png'));

afterAll(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true });
});

type Change = (bytes: Buffer, at: number, next: (below: number) => number) => Buffer;

const CHANGES: readonly Change[] = [
  (bytes, at, next) => {
    bytes[at] = next(256);
    return bytes;
  },
  (bytes, at, next) => {
    bytes.writeUInt32BE(NUMBERS[next(NUMBERS.length)] ?? 0, Math.min(at, bytes.byteLength - 4));
    return bytes;
  },
  (bytes, at, next) => {
    bytes.writeUInt16BE(next(65_536), Math.min(at, bytes.byteLength - 2));
    return bytes;
  },
  (bytes, at, next) =>
    Buffer.concat([bytes.subarray(0, at), bytes.subarray(next(bytes.byteLength)).subarray(0, 64), bytes.subarray(at)]),
  (bytes, at, next) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + next(64))]),
];

/** Mostly in the tables: at the beginning, or in the movie box. */
function mutated(original: Buffer, next: (below: number) => number): Buffer {
  let bytes = Buffer.from(original);
  const tables = Math.max(0, original.indexOf('moov'));
  for (let changes = 1 + next(6); changes > 0 && bytes.byteLength > 64; changes -= 1) {
    const at = tables + next(Math.max(1, Math.min(bytes.byteLength - tables, next(3) === 0 ? bytes.byteLength : 800)));
    bytes = Buffer.from(CHANGES[next(CHANGES.length)]?.(bytes, at, next) ?? bytes);
  }
  return next(8) === 0 ? bytes.subarray(0, next(bytes.byteLength)) : bytes;
}

test.each<[string, Buffer]>([
  ...['image.png', 'image.jpg', 'image.webp', 'animated.webp', '768p.mp4', 'clip.mov', 'clip.webm', 'audio.mp3'].map(
    (name): [string, Buffer] => [name, fixture(name)],
  ),
  ['a small movie', mp4()],
  ['a WAV', wav(1)],
  ['an HEIC', heic(300, 300)],
])(
  '%s with any changes gets an answer, is redrawn within the limits, and leaves nothing',
  async (name, original) => {
    const next = seededIntegers(name.length);
    for (let count = 0; count < FILES; count += 1) {
      writeFileSync(file, mutated(original, next));
      const outcome = await pool.probe(file, ANY_ACCOUNT);
      if (!('facts' in outcome)) {
        expect(outcome.fault).toMatch(/^[a-z_]+$/);
        continue;
      }
      writeFileSync(into, '');
      const draw = { image: pool.redraw, video: pool.thumbnail, audio: undefined }[outcome.facts.family];
      const drawn = await draw?.(file, into, ANY_ACCOUNT);
      if (drawn !== undefined && 'facts' in drawn && drawn.facts.family === 'image')
        expect(drawn.facts.width * drawn.facts.height).toBeLessThanOrEqual(40_000_000);
    }
    rmSync(into, { force: true });

    expect(await pool.probe(good, ANY_ACCOUNT)).toMatchObject({ facts: { mediaType: 'image/png', width: 640 } });
    expect(readdirSync(folder).sort()).toEqual(['file', 'good']);
  },
  TEST_MS,
);

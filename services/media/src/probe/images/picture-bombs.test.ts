import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fixture } from '../../../testing/origin.ts';
import { PICTURE_BOMBS, PICTURE_POLYGLOTS, jpegOfScans } from '../../../testing/picture-bombs.ts';
import { ANY_ACCOUNT, startProbePool } from '../../../testing/probe-pool-under-test.ts';

/** Far more processor time than any of these files needs on a slow machine: none may be refused for its time. */
const TIMEOUT_MS = 20_000;
const TEST_MS = 240_000;
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-pictures-'));
const pool = startProbePool({ timeoutMs: TIMEOUT_MS, heapBytes: 256 * 1024 ** 2 });
const [file, into, good] = [path.join(folder, 'file'), path.join(folder, 'into'), path.join(folder, 'good')] as const;

beforeAll(async () => {
  writeFileSync(good, fixture('image.png'));
  await pool.probe(good, ANY_ACCOUNT);
});
afterAll(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true });
});

test.each(PICTURE_BOMBS)(
  '%s is refused for what it holds, and the next file is read',
  async (_what, make, fault) => {
    writeFileSync(file, make());
    const outcome = await pool.probe(file, ANY_ACCOUNT);

    expect(outcome).toEqual({ fault });
    expect(pool.ended).toEqual([]);
    expect(await pool.probe(good, ANY_ACCOUNT)).toMatchObject({
      facts: { mediaType: 'image/png', width: 640, height: 360 },
    });
    expect(readdirSync(folder).sort()).toEqual(['file', 'good']);
  },
  TEST_MS,
);

test.each(PICTURE_POLYGLOTS)('only the picture remains of %s', async (_what, make) => {
  writeFileSync(file, make());
  writeFileSync(into, '');
  const [probed, drawn] = [await pool.probe(file, ANY_ACCOUNT), await pool.redraw(file, into, ANY_ACCOUNT)];
  const left = readFileSync(into);
  rmSync(into);

  expect([probed, drawn]).toEqual([
    { facts: expect.objectContaining({ family: 'image' }) },
    { facts: expect.objectContaining({ family: 'image' }) },
  ]);
  expect(left.includes('SECOND')).toBe(false);
});

describe('a picture that only resembles a bomb', () => {
  test('is accepted: a JPEG with the most scans that a picture can have', async () => {
    writeFileSync(file, jpegOfScans(512, 60));

    expect(await pool.probe(file, ANY_ACCOUNT)).toMatchObject({
      facts: { mediaType: 'image/jpeg', width: 512, height: 512 },
    });
  });

  test('is accepted: a JPEG whose size follows megabytes of metadata', async () => {
    const jpeg = fixture('image.jpg');
    const segment = Buffer.alloc(65_537);
    segment.set([0xff, 0xef, 0xff, 0xff]);
    writeFileSync(
      file,
      Buffer.concat([jpeg.subarray(0, 2), ...Array.from({ length: 60 }, () => segment), jpeg.subarray(2)]),
    );

    expect(await pool.probe(file, ANY_ACCOUNT)).toMatchObject({
      facts: { mediaType: 'image/jpeg', width: 640, height: 360 },
    });
  });

  test('is accepted: a JPEG whose metadata contain scan markers', async () => {
    const jpeg = fixture('image.jpg');
    const segment = Buffer.alloc(65_537, Buffer.from([0xff, 0xda]));
    segment.set([0xff, 0xef, 0xff, 0xff]);
    writeFileSync(file, Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]));

    expect(await pool.probe(file, ANY_ACCOUNT)).toMatchObject({ facts: { mediaType: 'image/jpeg' } });
  });
});

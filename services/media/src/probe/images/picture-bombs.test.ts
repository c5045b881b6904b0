import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fixture } from '../../../testing/origin.ts';
import { PICTURE_BOMBS, PICTURE_POLYGLOTS, jpegOfScans } from '../../../testing/picture-bombs.ts';
import { ANYBODY, startProbePool } from '../../../testing/probe-pool-under-test.ts';

/** What a machine that does much else needs for one of them. */
const DEADLINE_MS = 5000;
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-pictures-'));
const pool = startProbePool({ timeoutMs: DEADLINE_MS, heapBytes: 256 * 1024 ** 2 });
const [file, into, good] = [path.join(folder, 'file'), path.join(folder, 'into'), path.join(folder, 'good')] as const;

beforeAll(async () => {
  writeFileSync(good, fixture('image.png'));
  await pool.probe(good, ANYBODY);
});
afterAll(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true });
});

test.each(PICTURE_BOMBS)('%s is refused, in time, and the next file is read', async (_what, make, fault) => {
  writeFileSync(file, make());
  const before = performance.now();
  const outcome = await pool.probe(file, ANYBODY);
  const tookMs = performance.now() - before;

  expect(outcome).toEqual({ fault });
  expect(tookMs).toBeLessThan(DEADLINE_MS);
  expect(await pool.probe(good, ANYBODY)).toMatchObject({ facts: { mediaType: 'image/png', width: 640, height: 360 } });
  expect(readdirSync(folder).sort()).toEqual(['file', 'good']);
});

test.each(PICTURE_POLYGLOTS)('of %s only the picture is left', async (_what, make) => {
  writeFileSync(file, make());
  writeFileSync(into, '');
  const [probed, drawn] = [await pool.probe(file, ANYBODY), await pool.redraw(file, into, ANYBODY)];
  const left = readFileSync(into);
  rmSync(into);

  expect([probed, drawn]).toEqual([
    { facts: expect.objectContaining({ family: 'image' }) },
    { facts: expect.objectContaining({ family: 'image' }) },
  ]);
  expect(left.includes('SECOND')).toBe(false);
});

describe('what only looks like a bomb', () => {
  test('is taken: a JPEG in as many scans as a picture may have', async () => {
    writeFileSync(file, jpegOfScans(512, 60));

    expect(await pool.probe(file, ANYBODY)).toMatchObject({
      facts: { mediaType: 'image/jpeg', width: 512, height: 512 },
    });
  });

  test('is taken: a JPEG whose size stands behind megabytes of metadata', async () => {
    const jpeg = fixture('image.jpg');
    const segment = Buffer.alloc(65_537);
    segment.set([0xff, 0xef, 0xff, 0xff]);
    writeFileSync(
      file,
      Buffer.concat([jpeg.subarray(0, 2), ...Array.from({ length: 60 }, () => segment), jpeg.subarray(2)]),
    );

    expect(await pool.probe(file, ANYBODY)).toMatchObject({
      facts: { mediaType: 'image/jpeg', width: 640, height: 360 },
    });
  });

  test('is taken: a JPEG of photographs that speaks of scans in its metadata', async () => {
    const jpeg = fixture('image.jpg');
    const segment = Buffer.alloc(65_537, Buffer.from([0xff, 0xda]));
    segment.set([0xff, 0xef, 0xff, 0xff]);
    writeFileSync(file, Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]));

    expect(await pool.probe(file, ANYBODY)).toMatchObject({ facts: { mediaType: 'image/jpeg' } });
  });
});

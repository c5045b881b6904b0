import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MP4_BOMBS, AUDIO_BOMBS, WEBM_BOMBS } from '../../../testing/movie-bombs.ts';
import { fixture } from '../../../testing/origin.ts';
import { ANY_ACCOUNT, startProbePool } from '../../../testing/probe-pool-under-test.ts';

const TIMEOUT_MS = 1500;
/** The time to replace a worker on a busy machine. */
const TEST_MS = 40_000;
const HEAP_BYTES = 128 * 1024 ** 2;
const GROWTH_BYTES_MAX = 700 * 1024 ** 2;
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-movies-'));
const pool = startProbePool({ timeoutMs: TIMEOUT_MS, heapBytes: HEAP_BYTES });
const [file, good] = [path.join(folder, 'file'), path.join(folder, 'good')] as const;
let baseBytes = 0;

beforeAll(async () => {
  writeFileSync(good, fixture('768p.mp4'));
  await pool.probe(good, ANY_ACCOUNT);
  baseBytes = process.memoryUsage.rss();
});
afterAll(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true });
});

test.each([...MP4_BOMBS, ...WEBM_BOMBS, ...AUDIO_BOMBS])(
  '%s gets an answer in time and within the memory of one worker, and the next file is read',
  async (_what, make, verdict) => {
    writeFileSync(file, make());
    const outcome = await pool.probe(file, ANY_ACCOUNT);
    const grownBytes = process.memoryUsage.rss() - baseBytes;

    expect(outcome).toEqual(
      typeof verdict === 'string' ? { fault: verdict } : { facts: expect.objectContaining(verdict) },
    );
    expect(grownBytes).toBeLessThan(GROWTH_BYTES_MAX);
    expect(await pool.probe(good, ANY_ACCOUNT)).toMatchObject({ facts: { mediaType: 'video/mp4', durationMs: 4458 } });
    expect(readdirSync(folder).sort()).toEqual(['file', 'good']);
  },
  TEST_MS,
);

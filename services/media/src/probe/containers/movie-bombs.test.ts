import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MP4_BOMBS, AUDIO_BOMBS, WEBM_BOMBS } from '../../../testing/movie-bombs.ts';
import { fixture } from '../../../testing/origin.ts';
import { ANY_ACCOUNT, startProbePool } from '../../../testing/probe-pool-under-test.ts';

/** Far more processor time than a file needs that is judged by what it holds, however slow the machine is. */
const AMPLE_MS = 20_000;
/** Only a file that would run on beyond any limit is ended by its time. */
const SCARCE_MS = 1500;
const TEST_MS = 240_000;
const HEAP_BYTES = 128 * 1024 ** 2;
const KIB = 1024;
const PARSER_BYTES_MAX = 256 * KIB ** 2;
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-movies-'));
const ample = startProbePool({ timeoutMs: AMPLE_MS, heapBytes: HEAP_BYTES });
const scarce = startProbePool({ timeoutMs: SCARCE_MS, heapBytes: HEAP_BYTES });
const [file, good] = [path.join(folder, 'file'), path.join(folder, 'good')] as const;

beforeAll(() => {
  writeFileSync(good, fixture('768p.mp4'));
});
afterAll(async () => {
  await Promise.all([ample.stop(), scarce.stop()]);
  rmSync(folder, { recursive: true });
});

test.each([...MP4_BOMBS, ...WEBM_BOMBS, ...AUDIO_BOMBS])(
  '%s gets its verdict within the memory of one worker, and the next file is read',
  async (_what, make, verdict) => {
    const isEnded = verdict === 'overrun';
    const pool = isEnded ? scarce : ample;
    writeFileSync(file, make());
    const outcome = await pool.probe(file, ANY_ACCOUNT);
    const parserBytes = descendantsBytes();

    expect(outcome).toEqual(
      typeof verdict === 'string' ? { fault: verdict } : { facts: expect.objectContaining(verdict) },
    );
    expect(pool.ended).toHaveLength(isEnded ? 1 : 0);
    expect(parserBytes).toBeLessThan(PARSER_BYTES_MAX);
    expect(await ample.probe(good, ANY_ACCOUNT)).toMatchObject({ facts: { mediaType: 'video/mp4', durationMs: 4458 } });
    expect(readdirSync(folder).sort()).toEqual(['file', 'good']);
  },
  TEST_MS,
);

/** The most memory that each process below this one has had, in all. A parser that was ended counts no more. */
function descendantsBytes(): number {
  if (process.platform !== 'linux') return 0;
  const statuses = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statusOf(name));
  const below = new Set([process.pid]);
  let bytes = 0;
  // a parent has mostly the lower number; two rounds find the others
  for (const status of [...statuses, ...statuses]) {
    const [pid, parent] = [numberIn(status, 'Pid'), numberIn(status, 'PPid')];
    if (below.has(pid) || !below.has(parent)) continue;
    below.add(pid);
    bytes += numberIn(status, 'VmHWM') * KIB;
  }
  return bytes;
}

const numberIn = (status: string, key: string): number =>
  Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);

/** Empty: the process is gone. */
function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';

const CHILD = fileURLToPath(new URL('../../testing/ingest-child.ts', import.meta.url));
const WHOLE = fixture('768p.mp4');
const CASE_TIMEOUT_MS = 120_000;
let origin: Origin;

beforeAll(async () => {
  origin = await startOrigin();
});
afterAll(() => origin.close());

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

/** Kills the process `afterMs` after the first bytes; the rest of the bytes come immediately or never. */
async function killed(folder: string, afterMs: number, isWhole: boolean): Promise<void> {
  const url = origin.url((_request, response) => {
    response.writeHead(200, { 'content-length': String(WHOLE.byteLength) });
    if (isWhole) response.end(WHOLE);
    else response.write(WHOLE.subarray(0, 100_000));
  });
  const child = fork(CHILD, [folder, origin.host, url], {
    execPath: process.execPath,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, NODE_OPTIONS: '' },
    silent: true,
  });
  await once(child, 'message');
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test.each([
  [false, 60],
  [true, 0],
  [true, 40],
  [true, 120],
  [true, 300],
  [true, 600],
])(
  'a process that is killed during an ingest leaves no partial file, and the next one stores it (complete: %s, %i ms)',
  async (isWhole, afterMs) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'media-crash-'));
    await killed(folder, afterMs, isWhole);

    const next = await startMediaUnderTest({ folder, section: { fetch: { allow: [origin.host] } } });
    expect(filesUnder(path.join(folder, 'blobs', 'incoming'))).toEqual([]);
    const { result } = await next.client.ingestResult({
      accountId: 'demo',
      taskId: 'task_1',
      url: origin.url((_request, response) => {
        response.end(WHOLE);
      }),
    });
    const read = await next.media.bytes.read(result!.object);

    expect(Buffer.concat((await read!.stream.toArray()) as Buffer[]).equals(WHOLE)).toBe(true);
    expect(next.blobs().filter((name) => name.startsWith(result!.sha256))).toHaveLength(1);
    expect((await next.operator.verifyBlobs({})).faults).toEqual([]);
    await next.close();
  },
  CASE_TIMEOUT_MS,
);

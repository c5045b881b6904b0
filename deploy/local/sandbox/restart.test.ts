import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { recordMsMax } from './limits.ts';
import { startSandbox } from './sandbox.ts';
import { aGeneration, aPrompt } from './testing/bodies.ts';
import { callbackReceiver } from './testing/callback-receiver.ts';
import { manualClock } from './testing/manual-clock.ts';
import {
  fakeVideo,
  generationPath,
  queryPath,
  runningSandbox,
  type RunningSandbox,
} from './testing/running-sandbox.ts';

const never = (_order: unknown, stopped: AbortSignal): Promise<Uint8Array> =>
  new Promise((_resolve, reject) => {
    stopped.addEventListener('abort', () => {
      reject(new Error('stopped'));
    });
  });

let base: string;
let folder: string;
const running = new Set<RunningSandbox>();
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'reelgate-sandbox-'));
  folder = path.join(base, 'sandbox');
});
afterEach(async () => {
  for (const sandbox of running) await sandbox.stop();
  running.clear();
  rmSync(base, { recursive: true, force: true });
});

async function started(options: Parameters<typeof runningSandbox>[0] = {}): Promise<RunningSandbox> {
  const sandbox = await runningSandbox({ folder, ...options });
  running.add(sandbox);
  return sandbox;
}

async function stop(sandbox: RunningSandbox): Promise<void> {
  running.delete(sandbox);
  await sandbox.stop();
}

/** A sandbox on the same folder, some time after the end of the one before. */
async function again(before: RunningSandbox, laterMs = 0): Promise<RunningSandbox> {
  await stop(before);
  return started({ clock: manualClock(before.clock.now() + laterMs) });
}

test('a task whose video was not drawn when the sandbox ended is drawn and succeeds after it starts again', async () => {
  const first = await started({ render: never });
  const id = await first.created(generationPath, aGeneration());
  first.clock.advance(60_000);
  const before = (await first.task(id)).status;

  const second = await again(first);

  expect([before, (await second.task(id)).status]).toEqual(['running', 'succeeded']);
});

test('a result link of before works after, with the same bytes', async () => {
  const first = await started();
  const id = await first.created(generationPath, aGeneration());
  first.clock.advance(2000);
  const link = (await first.task(id)).content?.url ?? '';
  const bytesBefore = await (await fetch(link)).bytes();

  const second = await again(first);
  const after = await fetch(link.replace(first.url, second.url));

  expect([after.status, await after.bytes(), bytesBefore]).toEqual([200, fakeVideo, fakeVideo]);
});

test('cancelled and deleted tasks stay so, and the list keeps its order', async () => {
  const first = await started();
  const [done, cancelled, open] = [
    await first.created(generationPath, aPrompt('one')),
    await first.created(generationPath, aPrompt('two [queue:1h]')),
    await first.created(generationPath, aPrompt('three [slow:1h]')),
  ];
  await first.call('DELETE', `${generationPath}/${cancelled}`);
  first.clock.advance(2000);
  await first.call('DELETE', `${generationPath}/${done}`);

  const second = await again(first);

  expect((await second.call('GET', queryPath)).body).toMatchObject({
    total: 2,
    items: [
      { id: open, status: 'running' },
      { id: cancelled, status: 'cancelled' },
    ],
  });
});

test('a fault of the first reads is not repeated for reads of before', async () => {
  const first = await started();
  const id = await first.created(generationPath, aPrompt('[poll-error:500x2]'));
  const read = async (sandbox: RunningSandbox): Promise<number> =>
    (await sandbox.call('GET', `${queryPath}/${id}`)).status;
  const before = await read(first);

  const second = await again(first);

  expect([before, await read(second), await read(second)]).toEqual([500, 500, 200]);
});

test('a callback address hears of what happened meanwhile, and of nothing twice', async () => {
  const receiver = await callbackReceiver();
  const first = await started();
  await first.created(generationPath, aGeneration({ callback_url: receiver.url }));
  first.clock.advance(1000);
  await receiver.has(2);

  const second = await again(first, 60_000);
  await receiver.has(3);
  const third = await again(second, 60_000);
  await third.created(generationPath, aPrompt('another', { callback_url: receiver.url }));
  await receiver.has(4);
  await receiver.stop();

  expect(receiver.received.map(({ task }) => task?.status)).toEqual([undefined, 'running', 'succeeded', undefined]);
});

test('tasks that can no longer be read leave the file at the next start', async () => {
  const first = await started();
  await first.created(generationPath, aGeneration());
  const second = await again(first, recordMsMax + 1);
  const third = await again(second, -recordMsMax);

  expect((await third.call('GET', queryPath)).body).toEqual({ items: [], total: 0 });
});

test('its folder and files may be read by their owner only, whatever the umask', async () => {
  const umask = process.umask(0);
  try {
    await started().then((sandbox) => sandbox.created(generationPath, aGeneration()));
  } finally {
    process.umask(umask);
  }

  const modes = readdirSync(folder).map((name) => [name, statSync(path.join(folder, name)).mode & 0o777]);

  expect([statSync(folder).mode & 0o777, Object.fromEntries(modes)]).toEqual([
    0o700,
    { 'tasks.sqlite': 0o600, 'tasks.sqlite-shm': 0o600, 'tasks.sqlite-wal': 0o600 },
  ]);
});

test('a file that is no store of tasks stops the start, with its name', async () => {
  await stop(await started());
  writeFileSync(
    path.join(folder, 'tasks.sqlite'),
    'this is not a database, and it is long enough to be seen as one'.repeat(9),
  );

  await expect(startSandbox({ listen: '127.0.0.1:0', key: 'sandbox', folder })).rejects.toThrow(
    `${path.join(folder, 'tasks.sqlite')}: the sandbox cannot read its tasks; without this file it starts anew`,
  );
});

test('a create that cannot be kept is refused and leaves no task', async () => {
  const sandbox = await started();
  const other = new DatabaseSync(path.join(folder, 'tasks.sqlite'));
  other.exec('DROP TABLE tasks');
  other.close();

  const reply = await sandbox.call('POST', generationPath, aGeneration());

  expect([reply.status, (await sandbox.call('GET', queryPath)).body]).toEqual([500, { items: [], total: 0 }]);
  expect(sandbox.faults).toHaveLength(1);
});

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { Category } from '@reelgate/proto/media/v1/media_service';
import { smallDisk } from '../../../../test/harness/small-disk.ts';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, serves, startOrigin } from '../../testing/origin.ts';
import { FetchFault } from '../domain/fetch-fault.ts';
import type { BlobStore } from './blob-store.ts';
import { openDiskBlobs } from './disk-blobs.ts';
import { TooLarge, openIncoming } from './incoming.ts';
import type { Draft, IncomingFolder } from './incoming.ts';
import { storageFaults, guardBlobs, guardIncoming } from './storage-faults.ts';

const KEY = `${'a'.repeat(64)}-b_1`;
const UNAVAILABLE = { kind: 'unavailable', reason: 'storage_unavailable', retryAfterMs: 5000 };
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-storage-faults-'));
const faults = storageFaults(silentLog);
const disk = smallDisk();

afterAll(() => {
  rmSync(folder, { recursive: true });
  disk?.close();
});

const failing = (code: string) => () =>
  Promise.reject(Object.assign(new Error(`${code}: it failed, open '/secret/path'`), { code, syscall: 'open' }));

describe.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'EACCES', 'SlowDown', 'ECONNREFUSED'])(
  'with %s from a store',
  (code) => {
    const fail = failing(code);
    const blobs = guardBlobs(
      {
        keep: fail,
        has: fail,
        findSize: fail,
        open: fail,
        pieces: fail,
        withFile: fail,
        linkTo: fail,
        list: fail,
        remove: fail,
        check: fail,
      },
      faults,
    );

    test.each<[string, (of: BlobStore) => Promise<unknown>]>([
      ['kept', (of) => of.keep('key', undefined as never)],
      ['found', (of) => of.has('key', 1)],
      ['measured', (of) => of.findSize('key')],
      ['opened', (of) => of.open('key')],
      ['read', (of) => of.pieces('key')],
      ['inspected', (of) => of.withFile('key', async () => 1)],
      ['listed', (of) => of.list('', 1)],
      ['removed', (of) => of.remove('key')],
      ['linked', (of) => of.linkTo('key', undefined as never)],
    ])('a call that has a blob %s can be retried, and the refusal hides its path', async (_what, ask) => {
      await expect(ask(blobs)).rejects.toMatchObject({
        ...UNAVAILABLE,
        message: expect.not.stringContaining('secret'),
      });
    });

    test('the store does not report ready', async () => {
      await expect(blobs.check()).rejects.toThrow(code);
    });

    test.each<[string, Partial<Draft>, (draft: Draft) => Promise<unknown>]>([
      ['appended', { append: fail }, (draft) => draft.append([Buffer.from('x')])],
      ['finished', { finish: fail }, (draft) => draft.finish()],
      ['discarded', { discard: fail }, (draft) => draft.discard()],
    ])('a call that has a file %s can be retried', async (_what, draft, ask) => {
      const incoming = guardIncoming({ begin: async () => draft as Draft, fill: fail }, faults);

      await expect(ask(await incoming.begin(1))).rejects.toMatchObject(UNAVAILABLE);
      await expect(incoming.fill(async () => true)).rejects.toMatchObject(UNAVAILABLE);
      await expect(guardIncoming({ begin: fail, fill: fail }, faults).begin(1)).rejects.toMatchObject(UNAVAILABLE);
    });
  },
);

describe('storage does not take the blame for', () => {
  const broken = async function* (error: Error): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x');
    throw error;
  };
  const opened = (): IncomingFolder =>
    guardIncoming(openIncoming(path.join(folder, 'incoming'), newIds(systemClock)), faults);

  test.each([
    ['a client that left', new Error('aborted')],
    ['a lying origin', new FetchFault('network', 'could not be fetched')],
    ['a refusal', new Problem({ kind: 'invalid', reason: 'invalid_media', message: 'must be whole' })],
    ['a bug', new TypeError('x is undefined')],
    ['an error from elsewhere with a code of the disk', Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })],
  ])('%s', async (_what, error) => {
    const draft = await opened().begin(100);
    await expect(draft.append(broken(error))).rejects.toBe(error);
    await draft.discard();
    await expect(opened().fill(() => Promise.reject(error))).rejects.toBe(error);
    const blobs = guardBlobs(openDiskBlobs(folder), faults);
    mkdirSync(path.join(folder, KEY.slice(0, 2), KEY), { recursive: true });
    await expect(blobs.withFile(KEY, () => Promise.reject(error))).rejects.toBe(error);

    expect(readdirSync(path.join(folder, 'incoming'))).toEqual([]);
  });

  test('a file that is too large, and ends its source', async () => {
    const source = Readable.from([Buffer.alloc(60), Buffer.alloc(60), Buffer.alloc(60)]);
    const draft = await opened().begin(100);
    await expect(draft.append(source)).rejects.toBeInstanceOf(TooLarge);
    await draft.discard();

    expect([draft.bytes, source.destroyed]).toEqual([60, true]);
  });
});

const onDisk = disk === undefined ? test.skip : test;

onDisk.each([
  ['its bytes', 0],
  ['its redrawn copy', 36 * 1024],
  ['the last page of its redrawn copy', 60 * 1024],
])('a picture is not refused as damaged because the disk has no room for %s', async (_what, bytesLeft) => {
  const origin = await startOrigin();
  const blobs = path.join(disk!.folder, 'blobs');
  const under = await startMediaUnderTest({ section: { blobs, fetch: { allow: [origin.host] } } });
  const url = origin.url(serves(fixture('image.png')));
  const stage = () => under.client.stageMedia({ accountId: 'demo', taskId: 'task_1', category: Category.IMAGE, url });
  disk!.fill(bytesLeft);
  const refused = await stage().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(readdirSync(path.join(blobs, 'incoming'))).toEqual([]);
  disk!.empty();

  expect(refused).toMatchObject(UNAVAILABLE);
  expect((await stage()).media).toMatchObject({ mediaType: 'image/png' });
  await under.close();
  rmSync(blobs, { recursive: true });
  await origin.close();
});

test('unreadable bytes give 503 with a time to wait over HTTP, and other bytes are still served', async () => {
  const under = await startMediaUnderTest();
  const headers = { authorization: `Bearer ${under.serviceKey}` };
  const put = async (body: string): Promise<string> => {
    const answer = await fetch(`${under.url}/bytes?account=demo`, { method: 'PUT', headers, body });
    return ((await answer.json()) as { object: string }).object;
  };
  const [bad, good] = [await put('bad'), await put('good')];
  const key = under.blobs().find((name) => name.length > 60)!;
  const file = path.join(under.folder, 'blobs', key.slice(0, 2), key);
  rmSync(file);
  mkdirSync(file);

  const answers = await Promise.all([bad, good].map((object) => fetch(`${under.url}/bytes/${object}`, { headers })));
  const [first, second] = answers.toSorted((one, other) => other.status - one.status);
  expect([first!.status, first!.headers.get('retry-after'), second!.status]).toEqual([503, '5', 200]);
  expect(await first!.json()).toMatchObject({ error: { code: 'storage_unavailable', type: 'server_error' } });
  await under.close();
});

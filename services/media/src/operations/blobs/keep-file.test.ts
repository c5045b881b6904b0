import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { openDiskBlobs } from '../../blobs/disk-blobs.ts';
import { openIncoming } from '../../blobs/incoming.ts';
import type { MediaStore } from '../../store/media-store.ts';
import { sqlMediaStore } from '../../store/sql-media-store.ts';
import { collectGarbage, removeBytes } from '../garbage/collect-garbage.ts';
import { putBytes } from '../bytes/put-bytes.ts';
import type { PutDeps } from '../bytes/put-bytes.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url));
const HOUR_MS = 3_600_000;
const BYTES = Buffer.from('the same content');

let folder: string;
let sql: Sql;
let clock: FakeClock;
let deps: PutDeps & { readonly blobs: BlobStore; readonly store: MediaStore };

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'media-keep-'));
  sql = await openSql({ url: undefined, dataDir: folder, name: 'media', migrations: MIGRATIONS });
  clock = fakeClock();
  const newId = newIds(clock);
  deps = {
    clock,
    newId,
    random: systemRandom,
    store: sqlMediaStore(sql),
    blobs: openDiskBlobs(path.join(folder, 'blobs')),
    incoming: openIncoming(path.join(folder, 'incoming'), newId),
    inline: { lifetimeMs: 24 * HOUR_MS, bytesMax: 1024 ** 2, accountBytesMax: 1024 ** 2 },
  };
});

afterEach(async () => {
  await sql.close();
  rmSync(folder, { recursive: true });
});

const put = (over: Partial<PutDeps> = {}) => putBytes({ ...deps, ...over }, BYTES, { accountId: 'demo' });
const filesIn = (name: string): string[] =>
  readdirSync(path.join(folder, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

/** A blob store that runs `before` and `after` around each upload. */
const around = (before: () => Promise<unknown>, after: () => Promise<unknown> = async () => undefined): BlobStore => ({
  ...deps.blobs,
  keep: async (key, file) => {
    await before();
    await deps.blobs.keep(key, file);
    await after();
  },
});

const longAndSwept = async (): Promise<void> => {
  await clock.advance(2 * HOUR_MS);
  await collectGarbage(deps);
};

test('an upload that outlasts its pin and is swept is refused, and its bytes do not stay', async () => {
  await expect(put({ blobs: around(longAndSwept) })).rejects.toMatchObject({ reason: 'media_busy' });

  expect(filesIn('blobs')).toEqual([]);
  expect(filesIn('incoming')).toEqual([]);
  expect(await sql.read('SELECT storage_key FROM garbage')).toEqual([]);
});

test('its bytes do not stay even if the sweep has not yet recorded their removal', async () => {
  const sweepOf = (stored: () => Promise<unknown>): Promise<number> =>
    collectGarbage({
      ...deps,
      blobs: {
        ...deps.blobs,
        remove: async (key) => {
          await deps.blobs.remove(key);
          await stored();
        },
      },
    });
  let sweep: Promise<number> | undefined;
  const upload = put({
    blobs: around(async () => {
      await clock.advance(2 * HOUR_MS);
      await new Promise<void>((removed) => {
        sweep = sweepOf(async () => {
          removed();
          await upload.catch(() => undefined);
        });
      });
    }),
  });

  await expect(upload).rejects.toMatchObject({ reason: 'media_busy' });
  await sweep;
  expect(filesIn('blobs')).toEqual([]);
});

test('a concurrent upload of the same content keeps the content under its own key', async () => {
  let second: Awaited<ReturnType<typeof put>> | undefined;
  await expect(
    put({
      blobs: around(async () => {
        await longAndSwept();
        second = await put();
      }),
    }),
  ).rejects.toMatchObject({ reason: 'media_busy' });

  expect(filesIn('blobs')).toEqual([second?.blob.key]);
  expect(await deps.store.find(second?.id ?? '')).toEqual(second);
});

test('an upload that outlasts its pin and is not swept is pinned again until its claim', async () => {
  const object = await put({
    blobs: around(
      () => clock.advance(2 * HOUR_MS),
      async () => collectGarbage({ ...deps, clock: fakeClock() }),
    ),
  });

  expect(filesIn('blobs')).toEqual([object.blob.key]);
  expect(await collectGarbage(deps)).toBe(0);
});

test('a claim refers to the stored bytes, not to a running upload of the same content', async () => {
  const store: MediaStore = {
    ...deps.store,
    addObject: async (object, facts) => {
      await longAndSwept();
      await deps.store.pinBlob(
        { sha256: object.blob.sha256, bytes: BYTES.byteLength, key: `${object.blob.sha256}-later` },
        clock.now() + HOUR_MS,
      );
      return deps.store.addObject(object, facts);
    },
  };

  await expect(put({ store })).rejects.toMatchObject({ reason: 'media_busy' });
});

test('bytes whose upload or claim fails are removed immediately, whatever their pin', async () => {
  const broken: BlobStore = { ...deps.blobs, keep: async () => Promise.reject(new Error('the disk is full')) };
  await expect(put({ blobs: broken })).rejects.toThrow('the disk is full');
  await expect(put({ store: { ...deps.store, addObject: async () => undefined } })).rejects.toMatchObject({
    reason: 'media_busy',
  });
  await expect(
    put({ store: { ...deps.store, addObject: async () => Promise.reject(new Error('the database is away')) } }),
  ).rejects.toThrow('the database is away');

  expect([filesIn('blobs'), filesIn('incoming')]).toEqual([[], []]);
  for (const table of ['blobs', 'pins', 'uploads', 'garbage'])
    expect(await sql.read(`SELECT * FROM ${table}`)).toEqual([]);
});

test('a removal removes its bytes immediately and spares a running upload of the same content', async () => {
  const first = await put();
  const second = await put({
    blobs: {
      ...deps.blobs,
      has: async (key, bytes) => {
        // the second upload finds the bytes and stores none of its own
        await removeBytes(deps, await deps.store.removeObjects([first.id], ['inline'], clock.now()));
        return deps.blobs.has(key, bytes);
      },
    },
  });
  expect(filesIn('blobs')).toEqual([second.blob.key]);

  await removeBytes(deps, await deps.store.removeObjects([second.id], ['inline'], clock.now()));
  expect(filesIn('blobs')).toEqual([]);
});

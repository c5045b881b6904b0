import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { seededRandom } from '../../../testing/seeded-random.ts';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { startS3Server } from '../../../testing/s3-server.ts';
import type { S3Server } from '../../../testing/s3-server.ts';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { openDiskBlobs } from '../../blobs/disk-blobs.ts';
import { openIncoming } from '../../blobs/incoming.ts';
import { parseS3Address } from '../../blobs/s3-address.ts';
import { openS3Blobs } from '../../blobs/s3-blobs.ts';
import { isKept } from '../../domain/media-object.ts';
import { sqlMediaStore } from '../../store/sql-media-store.ts';
import { collectGarbage, removeBytes } from './collect-garbage.ts';
import { putBytes } from '../bytes/put-bytes.ts';
import { create } from '@bufbuild/protobuf';
import { VerifyBlobsRequestSchema } from '@reelgate/proto/media/v1/operator_service';
import { verifyBlobs } from '../blobs/verify-blobs.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url));
const HOUR_MS = 3_600_000;
const STEPS = 400;
const ACTORS = 8;
const TICKS_MAX = 10;
/** Few, so that the same content is stored, removed and stored again all the time. */
const CONTENTS = 3;
const TEST_MS = 120_000;

const ticks = async (count: number): Promise<void> => {
  for (let tick = 0; tick < count; tick += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** The same object, whose calls begin and end with a random delay. */
function delayed<T extends object>(object: T, next: () => number): T {
  return new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...values: unknown[]) => {
        await ticks(Math.floor(next() * TICKS_MAX));
        const answer: unknown = await (value as (...all: unknown[]) => unknown).apply(target, values);
        await ticks(Math.floor(next() * TICKS_MAX));
        return answer;
      };
    },
  });
}

function suite(
  open: (scratch: string, folder: string) => BlobStore,
  listed: (blobs: BlobStore, folder: string) => Promise<readonly string[]>,
): void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'media-garbage-'));
  const scratch = path.join(folder, 'blobs', 'incoming');
  let sql: Sql;
  let blobs: BlobStore;
  beforeAll(async () => {
    sql = await openSql({ url: undefined, dataDir: folder, name: 'media', migrations: MIGRATIONS });
    blobs = open(scratch, path.join(folder, 'blobs'));
  });
  afterEach(async () => {
    for (const table of ['blobs', 'objects', 'garbage', 'pins']) await sql.write(`DELETE FROM ${table}`);
  });
  afterAll(async () => {
    await sql.close();
    rmSync(folder, { recursive: true });
  });

  test.each([1, 2, 3, 5, 8, 13, 21, 34])(
    'concurrent uploads, reads, removals and sweeps keep claimed content whole and leave nothing at the end (seed %i)',
    async (seed) => {
      const next = seededRandom(seed);
      const clock = fakeClock();
      const newId = newIds(systemClock);
      const deps = {
        clock,
        newId,
        random: systemRandom,
        log: silentLog,
        store: delayed(sqlMediaStore(sql), next),
        blobs: delayed(blobs, next),
        incoming: openIncoming(scratch, newId),
        inline: { lifetimeMs: HOUR_MS, bytesMax: 1024 ** 2, accountBytesMax: 1024 ** 3 },
      };
      const mine = new Map<string, Buffer>();
      const any = (): [string, Buffer] | undefined => [...mine][Math.floor(next() * mine.size)];
      const bring = async (): Promise<void> => {
        const bytes = Buffer.alloc(1000, `content ${Math.floor(next() * CONTENTS)}`);
        const object = await putBytes(deps, bytes, {
          accountId: 'demo',
          privateMs: Math.ceil(next() * 3 * HOUR_MS),
        }).catch((error: unknown) => {
          expect(error).toMatchObject({ reason: 'media_busy' });
        });
        if (object !== undefined) mine.set(object.id, bytes);
      };
      const read = async (): Promise<void> => {
        const [id, bytes] = any() ?? [];
        const found = id === undefined ? undefined : await deps.store.find(id);
        if (id === undefined || found === undefined || !isKept(found, clock.now())) return;
        const stream = await deps.blobs.open(found.blob.key);
        const isWhole =
          stream !== undefined && bytes?.equals(Buffer.concat((await stream.toArray()) as Buffer[])) === true;
        const after = await deps.store.find(id);
        expect(isWhole || after === undefined || !isKept(after, clock.now())).toBe(true);
      };
      const giveUp = async (): Promise<void> => {
        const [id] = any() ?? [];
        if (id === undefined) return;
        mine.delete(id);
        const keys = await deps.store.removeObjects([id], ['private'], clock.now());
        // a crash at this point leaves the bytes to the sweep
        if (next() < 0.7) await removeBytes(deps, keys);
      };
      const verify = async (): Promise<void> => {
        const before = clock.now();
        const { faults } = await verifyBlobs(
          deps,
          create(VerifyBlobsRequestSchema, { limit: 100 }),
          new AbortController().signal,
        );
        // objects that ended during the verification may be missing
        if (clock.now() === before) expect(faults).toEqual([]);
      };
      const wait = async (): Promise<void> => clock.advance(Math.floor(next() * 2 * HOUR_MS));
      const sweep = async (): Promise<void> => {
        await collectGarbage(deps);
      };
      const acts = [bring, bring, bring, read, read, giveUp, sweep, sweep, wait, verify];
      const actor = async (): Promise<void> => {
        for (let step = 0; step < STEPS / ACTORS; step += 1) await acts[Math.floor(next() * acts.length)]?.();
      };

      await Promise.all(Array.from({ length: ACTORS }, actor));
      await clock.advance(10 * HOUR_MS);
      while ((await collectGarbage(deps)) > 0);
      expect([await sql.read('SELECT storage_key FROM blobs'), await sql.read('SELECT id FROM pins')]).toEqual([
        [],
        [],
      ]);
      expect(await listed(blobs, path.join(folder, 'blobs'))).toEqual([]);
    },
    TEST_MS,
  );
}

describe('in a folder', () => {
  suite(
    (_scratch, folder) => openDiskBlobs(folder),
    async (_blobs, folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
  );
});

describe('in a bucket', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server();
  });
  afterAll(() => server.close());
  suite(
    (scratch) =>
      openS3Blobs({
        address: parseS3Address(`s3://${server.bucket}?endpoint=${server.endpoint}`),
        credentials: server.credentials,
        scratch,
        clock: systemClock,
        newId: newIds(systemClock),
      }),
    async (blobs) => (await blobs.list('', 100)).map(({ key }) => key),
  );
});

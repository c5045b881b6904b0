import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { lifeUntil } from '../../testing/mortal.ts';
import type { Life } from '../../testing/mortal.ts';
import { fixture } from '../../testing/origin.ts';
import { startProbePool } from '../../testing/probe-pool-under-test.ts';
import { openDiskBlobs } from '../blobs/disk-blobs.ts';
import { openIncoming } from '../blobs/incoming.ts';
import type { IncomingFolder, ReceivedFile } from '../blobs/incoming.ts';
import { VerifyBlobsRequestSchema } from '@reelgate/proto/media/v1/operator_service';
import { create } from '@bufbuild/protobuf';
import type { StoredFile } from '@reelgate/proto/media/v1/file_service';
import type { MediaObject } from '../domain/media-object.ts';
import { sqlMediaStore } from '../store/sql-media-store.ts';
import { collectGarbage, removeBytes } from './garbage/collect-garbage.ts';
import { ingestResult } from './results/ingest-result.ts';
import { drawThumbnails, ensureThumbnail } from '../thumbnails/thumbnails.ts';
import { putBytes } from './bytes/put-bytes.ts';
import { commitFile, receiveFile, removeFile, reserveFile } from './files/keep-files.ts';
import { removeStaged } from './staging/remove-staged.ts';
import { stageMedia } from './staging/stage-media.ts';
import { verifyBlobs } from './blobs/verify-blobs.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
const MIB = 1024 ** 2;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOMENTS_MAX = 200;
/** One run tries every second moment, or all of them. */
const [MOMENT_FIRST = 1, ...OTHER_FIRST] = drawCases('moments', [1, 2], 1);
const MOMENT_STEP = 2 - OTHER_FIRST.length;
const TEST_MS = 120_000;
const VIDEO = fixture('768p.mp4');
const PICTURE = fixture('image.png');
const BYTES_MAX = { image: 30 * MIB, video: 50 * MIB, audio: 15 * MIB, base_video: 100 * MIB };
const pool = startProbePool();
const folders: string[] = [];

afterAll(async () => {
  await pool.stop();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

interface Machine {
  readonly folder: string;
  readonly sql: Sql;
  readonly clock: FakeClock;
}

async function newMachine(): Promise<Machine> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'media-moments-'));
  folders.push(folder);
  return {
    folder,
    clock: fakeClock(),
    sql: await openSql({ url: undefined, dataDir: folder, name: 'media', migrations: MIGRATIONS }),
  };
}

/** The parts of the service, opened on existing files and rows, as at a start. */
function living({ folder, sql, clock }: Machine, life: Life) {
  const { mortal } = life;
  const incoming = mortal(openIncoming(path.join(folder, 'blobs', 'incoming'), newIds(clock)));
  return {
    clock,
    incoming,
    random: systemRandom,
    newId: newIds(clock),
    log: silentLog,
    publicUrl: 'https://gate.example',
    bytesMax: BYTES_MAX,
    stagedLifetimeMs: DAY_MS,
    results: { lifetimeMs: DAY_MS },
    inline: { lifetimeMs: HOUR_MS, bytesMax: MIB, accountBytesMax: MIB },
    files: { lifetimeMs: DAY_MS, bytesMax: MIB, accountBytesMax: 4 * MIB, accountFilesMax: 4 },
    store: mortal(sqlMediaStore(sql)),
    blobs: mortal(openDiskBlobs(path.join(folder, 'blobs'))),
    fetch: { urlCharactersMax: 4096 },
    fetcher: {
      fetchReference: async () => ({ ...(await received(incoming, PICTURE)), isFromException: false }),
      withResult: async <T>({ url }: { readonly url: string }, use: (file: ReceivedFile) => Promise<T>) =>
        use(await received(incoming, url === LAST_FRAME ? PICTURE : VIDEO)),
    },
    parsers: { probe: mortal(pool.probe), assertReady: () => undefined },
    redraw: mortal(pool.redraw),
    thumbnails: drawThumbnails(
      { thumbnail: mortal(pool.thumbnail), pictureThumbnail: mortal(pool.pictureThumbnail) },
      Promise.resolve(undefined),
    ),
  };
}
type Living = ReturnType<typeof living>;

async function received(incoming: IncomingFolder, bytes: Buffer): Promise<ReceivedFile> {
  const draft = await incoming.begin(bytes.byteLength);
  await draft.append([bytes.subarray(0, bytes.byteLength / 2)]);
  await draft.append([bytes.subarray(bytes.byteLength / 2)]);
  return draft.finish();
}

const order = { accountId: 'demo', taskId: 'task_1', requestId: 'req_1' };
const RESULT = { ...order, url: 'https://origin.example/v.mp4' };
const LAST_FRAME = 'https://origin.example/last.png';
const staged = (source: { url: string } | { object: string; declaredType: string }) => (deps: Living) =>
  stageMedia(deps, { ...order, category: 'image', source });

/** Writes a file under one key, as a batch does that may have done it before. */
async function keepPicture(deps: Living): Promise<StoredFile> {
  const reserved = await reserveFile(deps, {
    accountId: 'demo',
    purpose: 'batch',
    bytes: PICTURE.byteLength,
    key: 'batch:1:output',
  });
  if (reserved.kind === 'exists') return reserved.file;
  const { id } = reserved;
  await receiveFile(deps, Readable.from([PICTURE]), { accountId: 'demo', id });
  return commitFile(deps, { accountId: 'demo', id, tokenId: '', filename: 'output.jsonl', lifetimeMs: undefined });
}

test.each<[string, (deps: Living) => Promise<MediaObject | undefined>, Buffer | undefined]>([
  ['a result is ingested', (deps) => ingestResult(deps, RESULT), VIDEO],
  [
    'a result and its last frame are ingested',
    (deps) => ingestResult(deps, { ...RESULT, lastFrameUrl: LAST_FRAME }),
    VIDEO,
  ],
  ['a thumbnail is made', async (deps) => ensureThumbnail(deps, await ingestResult(deps, RESULT)), undefined],
  ['an external address is staged', staged({ url: 'https://origin.example/i.png' }), undefined],
  ['a data URL is staged', staged({ url: `data:image/png;base64,${PICTURE.toString('base64')}` }), undefined],
  [
    'a result of this service is staged',
    async (deps) => {
      await ingestResult(deps, RESULT);
      return stageMedia(deps, { ...order, category: 'video', source: { url: '/v1/videos/task_1/content' } });
    },
    VIDEO,
  ],
  [
    'inline bytes are stored and staged',
    async (deps) => {
      const { id } = await putBytes(deps, PICTURE, { accountId: 'demo' });
      return staged({ object: id, declaredType: '' })(deps);
    },
    undefined,
  ],
  ['a file is kept under a key', async (deps) => deps.store.find((await keepPicture(deps)).id), PICTURE],
])(
  '%s: after a crash at any moment nothing partial remains, and the next process does it once',
  async (_what, work, bytes) => {
    let survived = false;
    let moment = MOMENT_FIRST;
    for (; moment <= MOMENTS_MAX && !survived; moment += MOMENT_STEP) {
      const machine = await newMachine();
      const life = lifeUntil(moment);
      survived = await Promise.race([work(living(machine, life)).then(() => true), life.ended.then(() => false)]);
      await expectSound(machine, work, bytes);
      await machine.sql.close();
    }

    expect(survived).toBe(true);
    expect(moment).toBeGreaterThan(15);
  },
  TEST_MS,
);

test(
  'a removed file and a refused create: after a crash at any moment, the repeated removal and an hour leave no bytes',
  async () => {
    let survived = false;
    let moment = MOMENT_FIRST;
    for (; moment <= MOMENTS_MAX && !survived; moment += MOMENT_STEP) {
      const machine = await newMachine();
      const life = lifeUntil(moment);
      const { files, ...rest } = living(machine, life);
      const dying = { ...rest, stagedLifetimeMs: 8 * DAY_MS, files: { ...files, lifetimeMs: HOUR_MS } };
      survived = await Promise.race([refusedCreate(dying).then(() => true), life.ended.then(() => false)]);
      if (survived) expect(filesIn(machine)).toEqual([]);

      const deps = living(machine, lifeUntil(Number.POSITIVE_INFINITY));
      await removeStaged(deps, order);
      await machine.clock.advance(HOUR_MS);
      while ((await collectGarbage(deps)) > 0);
      const left = await Promise.all(
        ['blobs', 'objects', 'garbage', 'pins', 'uploads', 'stagings', 'files'].map((table) =>
          machine.sql.read(`SELECT * FROM ${table}`),
        ),
      );
      expect([filesIn(machine), ...left.flat()]).toEqual([[]]);
      await machine.sql.close();
    }

    expect(survived).toBe(true);
    expect(moment).toBeGreaterThan(30);
  },
  TEST_MS,
);

async function refusedCreate(deps: Living): Promise<void> {
  await removeFile(deps, 'demo', (await keepPicture(deps)).id);
  const { id } = await putBytes(deps, PICTURE, { accountId: 'demo' });
  await staged({ object: id, declaredType: '' })(deps);
  await staged({ url: 'https://origin.example/i.png' })(deps);
  await removeStaged(deps, order);
  await removeBytes(deps, await deps.store.removeObjects([id], ['inline'], deps.clock.now()));
}

/** Starts again on the remaining files and rows, does the work, and lets everything expire. */
async function expectSound(
  machine: Machine,
  work: (deps: Living) => Promise<MediaObject | undefined>,
  bytes: Buffer | undefined,
): Promise<void> {
  const deps = living(machine, lifeUntil(Number.POSITIVE_INFINITY));
  expect(filesIn(machine, 'incoming')).toEqual([]);
  await collectGarbage(deps);
  const object = await work(deps);
  const again = await work(deps);
  expect(object).toBeDefined();
  expect([again?.blob.key, filesIn(machine, 'incoming')]).toEqual([object?.blob.key, []]);
  const stored = Buffer.concat((await (await deps.blobs.open(object?.blob.key ?? ''))?.toArray()) as Buffer[]);
  expect(stored.byteLength).toBe(object?.blob.bytes);
  if (bytes !== undefined) expect(stored.equals(bytes)).toBe(true);

  const rows = (await machine.sql.read<{ storage_key: string }>('SELECT storage_key FROM blobs')).map(
    ({ storage_key: key }) => key,
  );
  expect(filesIn(machine).filter((key) => !rows.includes(key))).toEqual([]);
  expect(
    (await verifyBlobs(deps, create(VerifyBlobsRequestSchema, { limit: 100 }), new AbortController().signal)).faults,
  ).toEqual([]);

  await machine.clock.advance(2 * DAY_MS);
  while ((await collectGarbage(deps)) > 0);
  const left = await Promise.all(
    ['blobs', 'objects', 'garbage', 'pins', 'uploads', 'stagings', 'files'].map((table) =>
      machine.sql.read(`SELECT * FROM ${table} WHERE ${table === 'objects' ? 'removed_at IS NULL' : '1 = 1'}`),
    ),
  );
  expect([filesIn(machine), ...left.flat()]).toEqual([[]]);
}

function filesIn({ folder }: Machine, below = ''): string[] {
  return readdirSync(path.join(folder, 'blobs', below), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

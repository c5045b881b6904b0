import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import type { MediaFacts } from '../domain/media-facts.ts';
import type { MediaStore, NewObject } from './media-store.ts';
import { sqlMediaStore } from './sql-media-store.ts';
import { SETTLE } from './sql-removals.ts';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));
const NOW = 1_800_000_000_000;
const facts: MediaFacts = { family: 'image', mediaType: 'image/png', width: 640, height: 360 };
const aBlob = (sha256: string, key = `${sha256}-1`) => ({ sha256, key });
const anObject = (over: Partial<NewObject> = {}): NewObject => ({
  id: 'med_1',
  accountId: 'demo',
  taskId: 'task_1',
  purpose: 'staged',
  blob: aBlob('aa'),
  reference: 'r1',
  createdAt: NOW,
  expiresAt: NOW + 1000,
  ...over,
});

function suite(url: () => string | undefined): void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'media-store-'));
  let sql: Sql;
  let store: MediaStore;
  beforeAll(async () => {
    sql = await openSql({
      url: url() === undefined ? undefined : new Secret(url() ?? ''),
      dataDir: folder,
      name: 'media',
      migrations,
    });
    store = sqlMediaStore(sql);
  });
  afterAll(async () => {
    await sql.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    for (const table of ['blobs', 'objects', 'garbage', 'pins', 'stagings', 'uploads'])
      await sql.write(`DELETE FROM ${table}`);
  });
  const pin = (sha256: string, until = NOW) => store.pinBlob({ sha256, bytes: 3, key: `${sha256}-1` }, until);

  test('a claim of content that a thousand others claim reads one entry of them', async () => {
    await pin('aa');
    await store.addObject(anObject(), facts);
    await sql.write(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
       INSERT INTO objects (id, account_id, task_id, purpose, sha256, created_at, expires_at)
       SELECT 'many_' || i, 'demo', 'task_' || i, 'inline', CASE WHEN i % 10 = 0 THEN 'aa' ELSE 'b' || i END, 1, ${NOW} + i FROM n`,
    );
    if (sql.engine === 'postgres') await sql.write('ANALYZE objects');
    const plan = await sql.read(
      `EXPLAIN ${sql.engine === 'sqlite' ? 'QUERY PLAN ' : ''}${SETTLE.replace('$1', "'aa'").replace('$2', '0')}`,
    );

    expect(JSON.stringify(plan)).toMatch(/objects_ends/);
    await store.removeObjects(['many_10000'], ['inline'], NOW);
    expect(await sql.read('SELECT keep_until FROM blobs')).toEqual([{ keep_until: NOW + 9990 }]);
  });

  test('an object is found with its content and its facts', async () => {
    await pin('aa');
    const added = await store.addObject(anObject(), facts);

    expect(added).toEqual({
      id: 'med_1',
      accountId: 'demo',
      taskId: 'task_1',
      purpose: 'staged',
      createdAt: NOW,
      expiresAt: NOW + 1000,
      removedAt: undefined,
      blob: { sha256: 'aa', bytes: 3, key: 'aa-1', facts },
    });
    expect(await store.find('med_1')).toEqual(added);
    expect(await store.findStaged('demo', 'task_1', 'r1')).toEqual(added);
    expect(await store.findStaged('other', 'task_1', 'r1')).toBeUndefined();
    expect(await store.findResult('task_1')).toBeUndefined();
    expect(await store.find('med_2')).toBeUndefined();
  });

  test('content has one key for all accounts', async () => {
    await pin('aa');

    expect((await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-2' }, NOW)).key).toBe('aa-1');
  });

  test('no object can be made of missing content', async () => {
    expect(await store.addObject(anObject(), undefined)).toBeUndefined();
    expect(await store.find('med_1')).toBeUndefined();
  });

  test('two concurrent results of a task become one object', async () => {
    await pin('aa');
    await pin('bb');
    const [first, second] = await Promise.all(
      ['aa', 'bb'].map((sha256) =>
        store.addObject(
          anObject({ id: `vid_${sha256}`, purpose: 'result', blob: aBlob(sha256), reference: '' }),
          facts,
        ),
      ),
    );

    expect(first).toBeDefined();
    expect(second).toEqual(first);
    expect(await store.findResult('task_1')).toEqual(first);
  });

  test.each(['thumbnail', 'last_frame'] as const)(
    'only a stored result has a %s, and a concurrent removal of the result removes it',
    async (purpose) => {
      await pin('aa');
      await pin('bb');
      const picture = anObject({ id: 'pic_1', purpose, blob: aBlob('bb'), reference: '' });
      expect(await store.addObject(picture, facts)).toBeUndefined();

      for (let round = 0; round < 10; round += 1) {
        const taskId = `task_${round}`;
        await store.addObject(anObject({ id: `vid_${taskId}`, purpose: 'result', reference: '', taskId }), facts);
        await Promise.all([
          store.addObject({ ...picture, id: `pic_${taskId}`, taskId }, facts),
          store.removeResult(taskId, NOW),
        ]);
        expect((await store.findPicture(purpose, taskId))?.removedAt ?? NOW).toBe(NOW);
        expect(
          await store
            .addObject({ ...picture, id: `pic_${taskId}_2`, taskId }, facts)
            .then((added) => added?.removedAt ?? NOW),
        ).toBe(NOW);
      }
      expect((await store.claimedBlobs('', 10)).map(({ sha256 }) => sha256)).toEqual([]);
    },
  );

  test('a reference is frozen once for a task, and again after its expiry', async () => {
    await pin('aa');
    await pin('bb');
    await store.addObject(anObject(), facts);

    expect((await store.addObject(anObject({ id: 'med_2', blob: aBlob('bb') }), facts))?.id).toBe('med_1');
    expect((await store.addObject(anObject({ id: 'med_3', blob: aBlob('bb'), taskId: 'task_2' }), facts))?.id).toBe(
      'med_3',
    );
    expect(
      (
        await store.addObject(
          anObject({ id: 'med_4', blob: aBlob('bb'), createdAt: NOW + 1000, expiresAt: NOW + 2000 }),
          facts,
        )
      )?.id,
    ).toBe('med_4');
  });

  test('facts that are recorded later stay', async () => {
    await pin('aa');
    await store.addObject(anObject(), undefined);
    await store.noteFacts('aa', facts);
    await store.addObject(anObject({ id: 'med_2', taskId: 'task_2' }), undefined);

    expect((await store.find('med_1'))?.blob.facts).toEqual(facts);
  });

  test('a result is removed once and remembered as removed', async () => {
    await pin('aa');
    await store.addObject(anObject({ id: 'vid_1', purpose: 'result' }), facts);

    expect(await store.removeResult('task_1', NOW + 5)).toBe(true);
    expect(await store.removeResult('task_1', NOW + 6)).toBe(false);
    expect(await store.removeResult('task_9', NOW)).toBe(false);
    expect((await store.find('vid_1'))?.removedAt).toBe(NOW + 5);
  });

  test('an expired input is forgotten, and an expired result is remembered for a while', async () => {
    await pin('aa');
    await store.addObject(anObject(), facts);
    await store.addObject(anObject({ id: 'vid_1', purpose: 'result' }), facts);
    await store.addObject(anObject({ id: 'med_2', taskId: 'task_2', expiresAt: NOW + 5000 }), facts);

    expect(await store.expireObjects(NOW + 999, 10)).toBe(0);
    expect(await store.expireObjects(NOW + 1000, 10)).toBe(2);
    expect(await store.find('med_1')).toBeUndefined();
    expect(await store.find('med_2')).toBeDefined();
    expect((await store.find('vid_1'))?.removedAt).toBe(NOW + 1000);
    expect(await store.forgetObjects(NOW + 999, 10)).toBe(0);
    expect(await store.forgetObjects(NOW + 1000, 10)).toBe(1);
    expect(await store.find('vid_1')).toBeUndefined();
  });

  test('a private object ends by removal or by expiry, with its content', async () => {
    await pin('aa');
    await pin('bb');
    await store.addObject(anObject({ id: 'prv_1', purpose: 'private', reference: '' }), undefined);
    await store.addObject(anObject({ id: 'prv_2', purpose: 'private', reference: '' }), undefined);
    await store.addObject(anObject({ id: 'prv_3', purpose: 'private', reference: '', blob: aBlob('bb') }), undefined);

    expect(await store.removeObjects(['prv_1', 'prv_9'], ['private'], NOW + 1)).toEqual([]);
    expect([await store.find('prv_1'), (await store.find('prv_2'))?.purpose]).toEqual([undefined, 'private']);
    expect(await store.takeGarbage(NOW + 1, 10)).toEqual([]);
    expect(await store.removeObjects(['prv_2', 'prv_1'], ['private'], NOW + 1)).toEqual(['aa-1']);
    expect(await store.takeGarbage(NOW + 1, 10)).toEqual(['aa-1']);

    await store.expireObjects(NOW + 1000, 10);
    expect(await store.find('prv_3')).toBeUndefined();
  });

  test('no other object is removed as a private or inline one', async () => {
    await pin('aa');
    await store.addObject(anObject(), facts);
    await store.addObject(anObject({ id: 'vid_1', purpose: 'result' }), facts);

    expect(await store.removeObjects(['med_1', 'vid_1'], ['inline', 'private'], NOW)).toEqual([]);
    expect([(await store.find('med_1'))?.removedAt, (await store.find('vid_1'))?.removedAt]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await store.find('med_1')).toBeDefined();
  });

  test('content becomes garbage when its last object and its pin have ended, not before', async () => {
    await pin('aa', NOW + 10);
    await store.addObject(anObject(), facts);
    await store.addObject(anObject({ id: 'vid_1', purpose: 'result', expiresAt: NOW + 3000 }), facts);

    await store.expireObjects(NOW + 1000, 10);
    expect(await store.takeGarbage(NOW + 1000, 10)).toEqual([]);
    await store.removeResult('task_1', NOW + 1500);
    expect(await store.takeGarbage(NOW + 1500, 10)).toEqual(['aa-1']);
    expect((await store.find('vid_1'))?.blob).toMatchObject({ sha256: 'aa', key: '' });
  });

  test('content ends with its last claim despite a longer own pin, unless another upload pins it', async () => {
    const inline = (id: string, pin: string) => anObject({ id, purpose: 'inline', reference: '', taskId: '', pin });
    await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-1' }, NOW + 9000);
    await store.addObject(inline('inl_1', 'aa-1'), undefined);
    await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-2' }, NOW + 9000);

    expect(await store.removeObjects(['inl_1'], ['inline'], NOW)).toEqual([]);
    expect(await store.takeGarbage(NOW, 10)).toEqual([]);
    expect((await store.addObject(inline('inl_2', 'aa-2'), undefined))?.blob.key).toBe('aa-1');
    expect(await store.removeObjects(['inl_2'], ['inline'], NOW)).toEqual(['aa-1']);
    expect(await store.addObject(inline('inl_3', 'aa-2'), undefined)).toBeUndefined();
  });

  test('a failed upload removes its content if nothing else protects it', async () => {
    await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-1' }, NOW + 9000);
    await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-2' }, NOW + 9000);

    expect(await store.dropPin('aa-2', NOW)).toBeUndefined();
    expect(await store.dropPin('aa-2', NOW)).toBeUndefined();
    expect(await store.dropPin('aa-1', NOW)).toBe('aa-1');
    await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-3' }, NOW + 9000);
    await store.addObject(anObject({ blob: aBlob('aa', 'aa-3'), pin: 'aa-3' }), undefined);
    await store.pinBlob({ sha256: 'bb', bytes: 3, key: 'bb-1' }, NOW + 9000);
    // the same reference already exists with other content
    expect((await store.addObject(anObject({ id: 'med_2', blob: aBlob('bb'), pin: 'bb-1' }), undefined))?.id).toBe(
      'med_1',
    );
    expect(await store.dropPin('bb-1', NOW)).toBe('bb-1');
  });

  test('concurrent claims, removals and uploads of the same content leave only claimed content', async () => {
    const round = async (index: number): Promise<void> => {
      const pin = `aa-${index}`;
      const { key } = await store.pinBlob({ sha256: 'aa', bytes: 3, key: pin }, NOW + 9000);
      const id = `inl_${index}`;
      const object = await store.addObject(
        anObject({ id, purpose: 'inline', reference: '', taskId: '', blob: aBlob('aa', key), pin }),
        undefined,
      );
      expect([object?.id, object?.blob.key]).toEqual([id, key]);
      for (const removed of await store.removeObjects([id], ['inline'], NOW)) await store.forgetGarbage(removed);
    };
    for (let index = 0; index < 10; index += 1)
      await Promise.all(Array.from({ length: 4 }, (_, actor) => round(index * 10 + actor)));

    expect([
      await sql.read('SELECT sha256 FROM blobs'),
      await sql.read('SELECT id FROM pins'),
      await sql.read('SELECT storage_key FROM garbage'),
    ]).toEqual([[], [], []]);
  });

  test('a task whose staging has ended gets no staged object, not even from a concurrent staging', async () => {
    const task = (index: number) => ({ accountId: 'demo', taskId: `task_${index}` });
    for (let index = 0; index < 10; index += 1) {
      const stage = async (reference: string): Promise<string | undefined> => {
        const pin = `${reference}-${index}`;
        const blob = await store.pinBlob({ sha256: reference, bytes: 3, key: pin }, NOW + 9000);
        const added = await store.addObject(
          anObject({ id: `med_${pin}`, taskId: task(index).taskId, reference, blob, pin }),
          undefined,
        );
        return added === undefined ? store.dropPin(pin, NOW) : undefined;
      };
      await stage('r0');
      const keys = await Promise.all([
        stage('r1'),
        stage('r2'),
        store.endStaging(task(index), NOW, NOW + 1000),
        stage('r3'),
      ]);
      expect(await stage('r4')).toBe(`r4-${index}`);
      for (const key of keys.flat()) if (key !== undefined) await store.forgetGarbage(key);
      expect(await sql.read('SELECT id FROM objects')).toEqual([]);
      expect((await store.takeGarbage(NOW, 10)).filter((key) => !key.startsWith('r4'))).toEqual([]);
    }
    expect(await store.endStaging(task(99), NOW, NOW + 1000)).toEqual([]);
  });

  test('concurrent reservations of an account never exceed its limit', async () => {
    const upload = (id: string, bytes: number, accountId = 'demo') => ({ id, accountId, bytes, expiresAt: NOW + 1000 });
    const taken = await Promise.all(
      Array.from({ length: 12 }, (_, index) => store.beginUpload(upload(`up_${index}`, 30), NOW, 100)),
    );
    expect(taken.filter(Boolean)).toHaveLength(3);
    expect(await store.beginUpload(upload('up_other', 100, 'other'), NOW, 100)).toBe(true);

    await store.pinBlob({ sha256: 'aa', bytes: 25, key: 'aa-1' }, NOW + 9000);
    const first = `up_${taken.indexOf(true)}`;
    await store.addObject(
      anObject({ id: 'inl_1', purpose: 'inline', reference: '', taskId: '', pin: 'aa-1', upload: first }),
      undefined,
    );
    expect(await store.beginUpload(upload('up_20', 16), NOW, 100)).toBe(false);
    expect(await store.beginUpload(upload('up_21', 15), NOW, 100)).toBe(true);
    await store.endUpload('up_21');
    expect(await store.beginUpload(upload('up_22', 15), NOW, 100)).toBe(true);
    expect(await store.beginUpload({ ...upload('up_23', 100), expiresAt: NOW + 2000 }, NOW + 1000, 100)).toBe(true);
  });

  test('a reservation lasts as long as it is renewed, and one that was ended is not revived', async () => {
    const upload = { accountId: 'demo', bytes: 60, expiresAt: NOW + 1000 };
    await store.beginUpload({ ...upload, id: 'up_1' }, NOW, 100);
    await store.renewUpload('up_1', NOW + 5000);
    expect(await store.beginUpload({ ...upload, id: 'up_2' }, NOW + 4999, 100)).toBe(false);
    expect(await store.beginUpload({ ...upload, id: 'up_3', expiresAt: NOW + 9000 }, NOW + 5000, 100)).toBe(true);
    await store.endUpload('up_3');
    await store.renewUpload('up_3', NOW + 9000);

    expect(await store.findUpload('up_3', NOW + 5000)).toBeUndefined();
  });

  test('expired pins, uploads and stagings are forgotten', async () => {
    await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-1' }, NOW + 10);
    await store.beginUpload({ id: 'up_1', accountId: 'demo', bytes: 1, expiresAt: NOW + 10 }, NOW, 100);
    await store.endStaging({ accountId: 'demo', taskId: 'task_1' }, NOW, NOW + 10);

    expect(await store.forgetSpent(NOW + 9, 10)).toBe(0);
    expect(await store.forgetSpent(NOW + 10, 10)).toBe(3);
  });

  test('an unclaimed upload becomes garbage after its pin', async () => {
    await pin('aa', NOW + 10);

    expect(await store.takeGarbage(NOW + 9, 10)).toEqual([]);
    expect(await store.takeGarbage(NOW + 10, 10)).toEqual(['aa-1']);
  });

  test('garbage is listed until its removal is recorded, and its key is not used again', async () => {
    await pin('aa');
    expect(await store.takeGarbage(NOW, 10)).toEqual(['aa-1']);
    expect(await store.takeGarbage(NOW, 10)).toEqual(['aa-1']);

    expect((await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-2' }, NOW + 10)).key).toBe('aa-2');
    await store.forgetGarbage('aa-1');

    expect(await store.takeGarbage(NOW, 10)).toEqual([]);
  });

  test('sweeps during uploads of the same content never remove claimed content', async () => {
    const upload = async (number: number): Promise<void> => {
      const blob = await store.pinBlob({ sha256: 'aa', bytes: 3, key: `aa-${number}` }, NOW + 1000);
      const object = await store.addObject(
        anObject({ id: `med_${number}`, taskId: `task_${number}`, blob, expiresAt: NOW + 60_000 }),
        facts,
      );
      expect(object?.blob.key).toBe(blob.key);
    };
    const sweep = async (): Promise<void> => {
      for (const key of await store.takeGarbage(NOW, 10)) await store.forgetGarbage(key);
    };
    await pin('aa');
    await Promise.all(Array.from({ length: 20 }, (_, number) => [upload(number), sweep()]).flat());

    expect(
      new Set(
        await Promise.all(
          Array.from({ length: 20 }, async (_, number) => (await store.find(`med_${number}`))?.blob.key),
        ),
      ).size,
    ).toBe(1);
  });
}

describe('the store in SQLite', () => {
  suite(() => undefined);
});
describeWith(postgresServer, 'the store', suite);

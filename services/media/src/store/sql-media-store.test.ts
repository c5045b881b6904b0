import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openSql } from '@reelgate/platform/open-sql';
import type { Sql } from '@reelgate/platform/sql';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import type { MediaFacts } from '../domain/media-facts.ts';
import type { MediaStore, NewObject } from './media-store.ts';
import { sqlMediaStore } from './sql-media-store.ts';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));
const NOW = 1_800_000_000_000;
const facts: MediaFacts = { family: 'image', mediaType: 'image/png', width: 640, height: 360 };
const aBlob = (sha256: string, key = `${sha256}-1`) => ({ sha256, key });
const anObject = (over: Partial<NewObject> = {}): NewObject => ({ id: 'med_1', accountId: 'demo', taskId: 'task_1', purpose: 'staged', blob: aBlob('aa'), reference: 'r1', createdAt: NOW, expiresAt: NOW + 1000, ...over });

function suite(url: () => string | undefined): void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'media-store-'));
  let sql: Sql;
  let store: MediaStore;
  beforeAll(async () => {
    sql = await openSql({ url: url(), dataDir: folder, name: 'media', migrations });
    store = sqlMediaStore(sql);
  });
  afterAll(async () => {
    await sql.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    for (const table of ['blobs', 'objects', 'garbage']) await sql.write(`DELETE FROM ${table}`);
  });
  const pin = (sha256: string, until = NOW) => store.pinBlob({ sha256, bytes: 3, key: `${sha256}-1` }, until);

  test('an object is found with its content and its facts', async () => {
    await pin('aa');
    const added = await store.addObject(anObject(), facts);

    expect(added).toEqual({ id: 'med_1', accountId: 'demo', taskId: 'task_1', purpose: 'staged', createdAt: NOW, expiresAt: NOW + 1000, removedAt: undefined, blob: { sha256: 'aa', bytes: 3, key: 'aa-1', facts } });
    expect(await store.find('med_1')).toEqual(added);
    expect(await store.findStaged('demo', 'task_1', 'r1')).toEqual(added);
    expect(await store.findStaged('other', 'task_1', 'r1')).toBeUndefined();
    expect(await store.findResult('task_1')).toBeUndefined();
    expect(await store.find('med_2')).toBeUndefined();
  });

  test('content has one key, whoever brings it', async () => {
    await pin('aa');

    expect((await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-2' }, NOW)).key).toBe('aa-1');
  });

  test('no object can be made of content that is not there', async () => {
    expect(await store.addObject(anObject(), undefined)).toBeUndefined();
    expect(await store.find('med_1')).toBeUndefined();
  });

  test('of two results of a task at the same moment there is one, for both', async () => {
    await pin('aa');
    await pin('bb');
    const [first, second] = await Promise.all(['aa', 'bb'].map((sha256) => store.addObject(anObject({ id: `vid_${sha256}`, purpose: 'result', blob: aBlob(sha256), reference: '' }), facts)));

    expect(first).toBeDefined();
    expect(second).toEqual(first);
    expect(await store.findResult('task_1')).toEqual(first);
  });

  test('a poster stands beside a result that is kept, and beside no other: at the same moment as a removal it goes too', async () => {
    await pin('aa');
    await pin('bb');
    const poster = anObject({ id: 'pic_1', purpose: 'poster', blob: aBlob('bb'), reference: '' });
    expect(await store.addObject(poster, facts)).toBeUndefined();

    for (let round = 0; round < 10; round += 1) {
      const taskId = `task_${String(round)}`;
      await store.addObject(anObject({ id: `vid_${taskId}`, purpose: 'result', reference: '', taskId }), facts);
      await Promise.all([store.addObject({ ...poster, id: `pic_${taskId}`, taskId }, facts), store.removeResult(taskId, NOW)]);
      expect((await store.findPoster(taskId))?.removedAt ?? NOW).toBe(NOW);
      expect(await store.addObject({ ...poster, id: `pic_${taskId}_2`, taskId }, facts).then((added) => added?.removedAt ?? NOW)).toBe(NOW);
    }
    expect((await store.claimedBlobs('', 10)).map(({ sha256 }) => sha256)).toEqual([]);
  });

  test('a reference is frozen once for a task, and anew when its time is over', async () => {
    await pin('aa');
    await pin('bb');
    await store.addObject(anObject(), facts);

    expect((await store.addObject(anObject({ id: 'med_2', blob: aBlob('bb') }), facts))?.id).toBe('med_1');
    expect((await store.addObject(anObject({ id: 'med_3', blob: aBlob('bb'), taskId: 'task_2' }), facts))?.id).toBe('med_3');
    expect((await store.addObject(anObject({ id: 'med_4', blob: aBlob('bb'), createdAt: NOW + 1000, expiresAt: NOW + 2000 }), facts))?.id).toBe('med_4');
  });

  test('facts that are noted later stay', async () => {
    await pin('aa');
    await store.addObject(anObject(), undefined);
    await store.noteFacts('aa', facts);
    await store.addObject(anObject({ id: 'med_2', taskId: 'task_2' }), undefined);

    expect((await store.find('med_1'))?.blob.facts).toEqual(facts);
  });

  test('a result is removed once, and remembered as removed', async () => {
    await pin('aa');
    await store.addObject(anObject({ id: 'vid_1', purpose: 'result' }), facts);

    expect(await store.removeResult('task_1', NOW + 5)).toBe(true);
    expect(await store.removeResult('task_1', NOW + 6)).toBe(false);
    expect(await store.removeResult('task_9', NOW)).toBe(false);
    expect((await store.find('vid_1'))?.removedAt).toBe(NOW + 5);
  });

  test('objects end with their time: inputs are forgotten, results remembered for a while', async () => {
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

  test('a private object ends when it is told to or with its time, and takes its content along', async () => {
    await pin('aa');
    await pin('bb');
    await store.addObject(anObject({ id: 'prv_1', purpose: 'private', reference: '' }), undefined);
    await store.addObject(anObject({ id: 'prv_2', purpose: 'private', reference: '' }), undefined);
    await store.addObject(anObject({ id: 'prv_3', purpose: 'private', reference: '', blob: aBlob('bb') }), undefined);

    await store.removePrivate(['prv_1', 'prv_9'], NOW + 1);
    expect([await store.find('prv_1'), (await store.find('prv_2'))?.purpose]).toEqual([undefined, 'private']);
    expect(await store.takeGarbage(NOW + 1, 10)).toEqual([]);
    await store.removePrivate(['prv_2', 'prv_1'], NOW + 1);
    expect(await store.takeGarbage(NOW + 1, 10)).toEqual(['aa-1']);

    await store.expireObjects(NOW + 1000, 10);
    expect(await store.find('prv_3')).toBeUndefined();
  });

  test('nothing but a private object is removed as one', async () => {
    await pin('aa');
    await store.addObject(anObject(), facts);
    await store.addObject(anObject({ id: 'vid_1', purpose: 'result' }), facts);

    await store.removePrivate(['med_1', 'vid_1'], NOW);
    expect([(await store.find('med_1'))?.removedAt, (await store.find('vid_1'))?.removedAt]).toEqual([undefined, undefined]);
    expect(await store.find('med_1')).toBeDefined();
  });

  test('content is garbage when the last of its objects and its pin are over, not before', async () => {
    await pin('aa', NOW + 10);
    await store.addObject(anObject(), facts);
    await store.addObject(anObject({ id: 'vid_1', purpose: 'result', expiresAt: NOW + 3000 }), facts);

    await store.expireObjects(NOW + 1000, 10);
    expect(await store.takeGarbage(NOW + 1000, 10)).toEqual([]);
    await store.removeResult('task_1', NOW + 1500);
    expect(await store.takeGarbage(NOW + 1500, 10)).toEqual(['aa-1']);
    expect((await store.find('vid_1'))?.blob).toMatchObject({ sha256: 'aa', key: '' });
  });

  test('an upload that was pinned and never claimed becomes garbage after its pin', async () => {
    await pin('aa', NOW + 10);

    expect(await store.takeGarbage(NOW + 9, 10)).toEqual([]);
    expect(await store.takeGarbage(NOW + 10, 10)).toEqual(['aa-1']);
  });

  test('garbage is named until it was removed, and its key is not given again', async () => {
    await pin('aa');
    expect(await store.takeGarbage(NOW, 10)).toEqual(['aa-1']);
    expect(await store.takeGarbage(NOW, 10)).toEqual(['aa-1']);

    expect((await store.pinBlob({ sha256: 'aa', bytes: 3, key: 'aa-2' }, NOW + 10)).key).toBe('aa-2');
    await store.forgetGarbage('aa-1');

    expect(await store.takeGarbage(NOW, 10)).toEqual([]);
  });

  test('sweeps beside uploads of the same content never take what is claimed', async () => {
    const upload = async (turn: number): Promise<void> => {
      const blob = await store.pinBlob({ sha256: 'aa', bytes: 3, key: `aa-${String(turn)}` }, NOW + 1000);
      const object = await store.addObject(anObject({ id: `med_${String(turn)}`, taskId: `task_${String(turn)}`, expiresAt: NOW + 60_000 }), facts);
      expect(object?.blob.key).toBe(blob.key);
    };
    const sweep = async (): Promise<void> => {
      for (const key of await store.takeGarbage(NOW, 10)) await store.forgetGarbage(key);
    };
    await pin('aa');
    await Promise.all(Array.from({ length: 20 }, (_, turn) => [upload(turn), sweep()]).flat());

    expect(new Set(await Promise.all(Array.from({ length: 20 }, async (_, turn) => (await store.find(`med_${String(turn)}`))?.blob.key))).size).toBe(1);
  });
}

describe('the store in SQLite', () => {
  suite(() => undefined);
});
describeWith(postgresServer, 'the store', suite);

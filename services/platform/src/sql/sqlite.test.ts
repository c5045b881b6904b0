import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite } from './sqlite.ts';
import type { Sql } from './sql.ts';

describe('a slow disk', () => {
  const syncs: PromiseWithResolvers<undefined>[] = [];
  let folder = '';
  let sql: Sql;
  beforeEach(async () => {
    syncs.length = 0;
    folder = mkdtempSync(path.join(tmpdir(), 'reelgate-sqlite-'));
    sql = openSqlite(path.join(folder, 'test.sqlite'), async () => ({
      sync: () => {
        const sync = Promise.withResolvers<undefined>();
        syncs.push(sync);
        return sync.promise;
      },
      close: async () => undefined,
    }));
    const made = sql.write('CREATE TABLE things (id TEXT PRIMARY KEY)');
    await nextSync(1);
    syncs[0]?.resolve(undefined);
    await made;
  });
  afterEach(async () => {
    for (const sync of syncs) sync.resolve(undefined);
    await sql.close();
    rmSync(folder, { recursive: true });
  });
  const insert = (id: string): Promise<unknown> => sql.write('INSERT INTO things VALUES ($1)', [id]);
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const nextSync = async (count: number): Promise<void> => {
    for (let left = 1000; syncs.length < count && left > 0; left -= 1) await turn();
  };
  const isOver = async (promise: Promise<unknown>): Promise<boolean> => {
    let over = false;
    void promise.then(
      () => {
        over = true;
      },
      () => {
        over = true;
      },
    );
    for (let left = 50; left > 0; left -= 1) await turn();
    return over;
  };

  test('a write resolves only after the disk has it', async () => {
    const written = insert('a');
    await nextSync(2);

    expect(await isOver(written)).toBe(false);
    syncs[1]?.resolve(undefined);
    expect(await isOver(written)).toBe(true);
  });

  test('no reader sees data that a power cut could take back', async () => {
    const written = insert('a');
    await nextSync(2);
    const read = sql.read('SELECT id FROM things');

    expect(await isOver(read)).toBe(false);
    syncs[1]?.resolve(undefined);
    expect(await read).toEqual([{ id: 'a' }]);
    await written;
  });

  test('writes that arrive while the disk is busy share the next sync', async () => {
    const first = insert('a');
    await nextSync(2);
    const others = [insert('b'), insert('c'), insert('d')];
    expect(await isOver(Promise.race(others))).toBe(false);
    syncs[1]?.resolve(undefined);
    await first;
    await nextSync(3);
    syncs[2]?.resolve(undefined);

    await Promise.all(others);
    expect(syncs).toHaveLength(3);
  });

  test('a failed transaction does not wait for the disk', async () => {
    const failing = sql.transaction(async () => Promise.reject(new Error('changed its mind')));

    await expect(failing).rejects.toThrow('changed its mind');
    expect(syncs).toHaveLength(1);
  });

  test('no write succeeds after a failed sync', async () => {
    const written = insert('a');
    const caught = expect(written).rejects.toThrow('the disk is gone');
    await nextSync(2);
    syncs[1]?.reject(new Error('the disk is gone'));
    await caught;

    await expect(insert('b')).rejects.toThrow('the disk is gone');
    await expect(sql.read('SELECT id FROM things')).rejects.toThrow('the disk is gone');
  });
});

import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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

  describe('a transaction without a sync', () => {
    const insertUnsynced = (id: string) =>
      sql.commitUnsynced((query) => query('INSERT INTO things VALUES ($1) RETURNING id', [id]));

    test('succeeds when it is committed, and readers find it', async () => {
      expect(await insertUnsynced('a')).toEqual([{ id: 'a' }]);
      expect(await sql.read('SELECT id FROM things')).toEqual([{ id: 'a' }]);
      expect(syncs).toHaveLength(1);
    });

    test('does not wait for the sync of the commit that it shares', async () => {
      const [other, result] = [insert('b'), await insertUnsynced('a')];

      expect(result).toEqual([{ id: 'a' }]);
      expect(await isOver(other)).toBe(false);
      syncs[1]?.resolve(undefined);
      await other;
    });

    describe('that comes while the disk writes', () => {
      const outside = (): unknown[] => {
        const other = new DatabaseSync(path.join(folder, 'test.sqlite'), { readOnly: true });
        const rows = other.prepare('SELECT id FROM things ORDER BY id').all();
        other.close();
        return rows.map((row) => ({ ...row }));
      };

      test('is committed when the disk has the commit before it, and waits for no sync of its own', async () => {
        const before = insert('a');
        await nextSync(2);
        const unsynced = insertUnsynced('b');

        expect(await isOver(unsynced)).toBe(false);
        expect(outside()).toEqual([{ id: 'a' }]);
        syncs[1]?.resolve(undefined);
        await before;
        expect(await unsynced).toEqual([{ id: 'b' }]);
        expect(outside()).toEqual([{ id: 'a' }, { id: 'b' }]);
        expect(syncs).toHaveLength(2);
      });

      test('leaves nothing if that sync fails', async () => {
        const before = insert('a');
        await nextSync(2);
        const unsynced = insertUnsynced('b');
        await turn();
        syncs[1]?.reject(new Error('the disk is gone'));

        await expect(before).rejects.toMatchObject({ name: 'StoreUnavailable', maybeWritten: true });
        await expect(unsynced).rejects.toMatchObject({ name: 'StoreUnavailable', maybeWritten: false });
        expect(outside()).toEqual([{ id: 'a' }]);
      });

      test('does not fail with another one', async () => {
        const before = insert('a');
        await nextSync(2);
        const [good, bad, again] = [insertUnsynced('b'), insertUnsynced('a'), insertUnsynced('c')];
        void bad.catch(() => undefined);
        await turn();
        syncs[1]?.resolve(undefined);
        await before;

        expect(await good).toEqual([{ id: 'b' }]);
        await expect(bad).rejects.toThrow('UNIQUE');
        expect(await again).toEqual([{ id: 'c' }]);
      });

      test('comes after the writes that wait already', async () => {
        const before = insert('a');
        await nextSync(2);
        const waiting = insert('b');
        const unsynced = sql.commitUnsynced((query) => query('SELECT id FROM things ORDER BY id'));
        syncs[1]?.resolve(undefined);
        await before;

        expect(await unsynced).toEqual([{ id: 'a' }, { id: 'b' }]);
        await nextSync(3);
        syncs[2]?.resolve(undefined);
        await waiting;
      });
    });

    test('that fails leaves nothing', async () => {
      await expect(sql.commitUnsynced((query) => query('INSERT INTO nowhere VALUES (1)'))).rejects.toThrow('nowhere');
      expect(await sql.read('SELECT id FROM things')).toEqual([]);
    });
  });

  describe('while it still writes a transaction that is committed ahead', () => {
    const insertAhead = (id: string) =>
      sql.commitAhead((query) => query<{ id: string }>('INSERT INTO things VALUES ($1) RETURNING id', [id]));

    test('the transaction has its result, and is durable when the disk has it', async () => {
      const { result, durable = Promise.resolve() } = await insertAhead('a');
      await nextSync(2);

      expect(result).toEqual([{ id: 'a' }]);
      expect(await isOver(durable)).toBe(false);
      syncs[1]?.resolve(undefined);
      expect(await isOver(durable)).toBe(true);
    });

    test('the transaction is committed before the next turn of the event loop, with those of the same moment', async () => {
      const [ahead, other] = [insertAhead('a'), insert('b')];
      const next = turn();
      const first = await Promise.race([ahead.then(() => 'the commit'), next.then(() => 'the turn')]);

      expect(first).toBe('the commit');
      syncs[1]?.resolve(undefined);
      await other;
      expect(syncs).toHaveLength(2);
    });

    test('no reader sees it', async () => {
      await insertAhead('a');
      const read = sql.read('SELECT id FROM things');

      expect(await isOver(read)).toBe(false);
      syncs[1]?.resolve(undefined);
      expect(await read).toEqual([{ id: 'a' }]);
    });

    test('a transaction of the same moment waits for the disk', async () => {
      const [{ durable }, other] = [await insertAhead('a'), insert('b')];

      expect(await isOver(other)).toBe(false);
      for (const count of [2, 3]) {
        await nextSync(count);
        syncs[count - 1]?.resolve(undefined);
      }
      await Promise.all([durable, other]);
    });

    test('a failed sync makes it uncertain', async () => {
      const { durable } = await insertAhead('a');
      syncs[1]?.reject(new Error('the disk is gone'));

      await expect(durable).rejects.toMatchObject({ name: 'StoreUnavailable', maybeWritten: true });
    });

    test('a statement that fails leaves nothing', async () => {
      await expect(sql.commitAhead((query) => query('INSERT INTO nowhere VALUES (1)'))).rejects.toThrow('nowhere');

      expect(syncs).toHaveLength(1);
      expect(await sql.read('SELECT id FROM things')).toEqual([]);
    });
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

  test('a write that arrives in the turn in which a sync ends shares the next sync', async () => {
    const first = insert('a');
    await nextSync(2);
    const others = [insert('b')];
    syncs[1]?.resolve(undefined);
    await first;
    for (let left = 20; left > 0; left -= 1) await Promise.resolve();
    others.push(insert('c'));
    await nextSync(3);
    syncs[2]?.resolve(undefined);

    await Promise.all(others);
    expect(syncs).toHaveLength(3);
  });

  describe('the writes of successive turns of the event loop', () => {
    const insertFor = async (turns: number): Promise<Promise<unknown>[]> => {
      const writes = [];
      for (let index = 0; index < turns; index += 1) {
        const next = turn();
        writes.push(insert(`turn ${index}`));
        await next;
      }
      return writes;
    };

    test('share one commit', async () => {
      const writes = await insertFor(4);
      await nextSync(2);
      syncs[1]?.resolve(undefined);

      await Promise.all(writes);
      expect(syncs).toHaveLength(2);
    });

    test('are committed in bounded time, even if each further turn brings one', async () => {
      const writes = await insertFor(50);

      expect(syncs).toHaveLength(2);
      syncs[1]?.resolve(undefined);
      await writes[0];
      await nextSync(3);
      syncs[2]?.resolve(undefined);
      await Promise.all(writes);
    });
  });

  test('transactions that share a commit with a failing one run again, and the failed one leaves nothing', async () => {
    let runs = 0;
    const counted = sql.transaction(async (query) => {
      runs += 1;
      await query('INSERT INTO things VALUES ($1)', [`run ${runs}`]);
      return runs;
    });
    const failing = sql.transaction(async (query) => {
      await query('INSERT INTO things VALUES ($1)', ['unwanted']);
      throw new Error('changed its mind');
    });
    const caught = expect(failing).rejects.toThrow('changed its mind');
    await nextSync(2);
    syncs[1]?.resolve(undefined);

    expect(await counted).toBe(2);
    await caught;
    expect(await sql.read('SELECT id FROM things')).toEqual([{ id: 'run 2' }]);
  });

  test('a failed transaction does not wait for the disk', async () => {
    const failing = sql.transaction(async () => Promise.reject(new Error('changed its mind')));

    await expect(failing).rejects.toThrow('changed its mind');
    expect(syncs).toHaveLength(1);
  });

  test('two connections of a process to one file that write at the same moment take turns', async () => {
    const other = openSqlite(path.join(folder, 'test.sqlite'));
    await Promise.all(['b', 'c'].map((id) => other.write('INSERT INTO things VALUES ($1)', [id])));
    const both = [insert('a'), other.write('INSERT INTO things VALUES ($1)', ['d'])];
    await nextSync(2);
    syncs[1]?.resolve(undefined);
    await Promise.all(both);

    expect(await sql.read('SELECT id FROM things ORDER BY id')).toHaveLength(4);
    await other.close();
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

describe('a large batch of writes', () => {
  const BATCH = 64;
  const ROW_BYTES = 10_000;
  const MIB = 2 ** 20;
  const CREATE = 'CREATE TABLE things (id INTEGER PRIMARY KEY, body TEXT)';
  let folder = '';
  let file = '';
  let sql: Sql;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'reelgate-sqlite-'));
    file = path.join(folder, 'test.sqlite');
    sql = openSqlite(file);
    await sql.write(CREATE);
  });
  afterEach(async () => {
    await sql.close();
    rmSync(folder, { recursive: true });
  });
  /** Opens a file with pages of another size in place of this one. */
  const replaceFile = async (pageBytes: number): Promise<void> => {
    await sql.close();
    rmSync(file);
    const database = new DatabaseSync(file);
    database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; ${CREATE}`);
    database.close();
    sql = openSqlite(file);
  };
  const writeRound = (round: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: BATCH }, (_, index) =>
        sql.write('INSERT INTO things VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = $2', [
          index,
          String(round).repeat(ROW_BYTES),
        ]),
      ),
    );

  (process.platform === 'linux' ? test : test.skip)('needs no temporary file', async () => {
    await writeRound(1);
    const changeAll = (round: number): Promise<readonly string[]> =>
      sql.transaction(async (query) => {
        await query('UPDATE things SET body = $1', [String(round).repeat(ROW_BYTES)]);
        return openFiles();
      });
    const [, seen] = await Promise.all([changeAll(2), changeAll(3)]);

    expect(seen).toContain(file);
    expect(seen.filter((name) => name.includes('etilqs_'))).toEqual([]);
  });

  test.each([
    ['a new file', 2048],
    ['a file with other pages', 4096],
  ])('is copied from the log of %s with later ones, and the log stays within 17 MiB', async (_which, pageBytes) => {
    if (pageBytes !== 2048) await replaceFile(pageBytes);
    for (let round = 0; round < 30; round += 1) await writeRound(round % 10);

    expect(await sql.read('PRAGMA page_size')).toEqual([{ page_size: pageBytes }]);
    const { size } = statSync(`${file}-wal`);
    expect(size).toBeGreaterThan(8 * MIB);
    expect(size).toBeLessThan(17 * MIB);
  });
});

/** What this process has open. The list itself is open while it is read. */
function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

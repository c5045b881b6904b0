import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Sql, SqlQuery, SqlValue } from '../src/sql/sql.ts';
import type { OpenSql } from './describe-on-engines.ts';

const count = async (sql: Sql): Promise<SqlValue | undefined> =>
  (await sql.read('SELECT COUNT(*) AS rows FROM things'))[0]?.['rows'];
const insert = 'INSERT INTO things (id, held) VALUES ($1, $2)';

/** The guarantees of every engine. The same SQL text runs on all of them. */
export function sqlConformance(open: OpenSql): void {
  let sql: Sql;
  beforeEach(async () => {
    sql = open();
    await sql.write('CREATE TABLE things (id TEXT PRIMARY KEY, held BIGINT NOT NULL, owner TEXT)');
  });
  const add = async (rows: number): Promise<void> => {
    for (let row = 0; row < rows; row += 1) await sql.write(insert, [`thing_${String(row).padStart(3, '0')}`, 0]);
  };

  describe('a statement', () => {
    test('uses its parameters in any order and more than once', async () => {
      const rows = await sql.read(
        "SELECT CAST($2 AS TEXT) || '-' || CAST($1 AS TEXT) || '-' || CAST($2 AS TEXT) AS said",
        ['one', 'two'],
      );

      expect(rows).toEqual([{ said: 'two-one-two' }]);
    });

    test('accepts parameters with two-digit numbers', async () => {
      const names = Array.from({ length: 11 }, (_, index) => `CAST($${index + 1} AS TEXT)`).reverse();
      const values = Array.from({ length: 11 }, (_, index) => String.fromCharCode(97 + index));

      expect(await sql.read(`SELECT ${names.join(' || ')} AS said`, values)).toEqual([{ said: 'kjihgfedcba' }]);
    });

    test.each([
      ['too few values', ['one']],
      ['none', []],
      ['too many', ['one', 'two', 'three']],
    ])('refuses %s, and writes nothing', async (_how, values) => {
      await expect(sql.write('INSERT INTO things (id, held, owner) VALUES ($1, 0, $2)', values)).rejects.toThrow();

      expect(await count(sql)).toBe(0);
    });

    test.each(['it\'s "quoted" \\ $1 ? :x', 'äöü 漢字 😀', 'two\nlines', ''])(
      'keeps the text %j as it is',
      async (text) => {
        await sql.write('INSERT INTO things (id, held, owner) VALUES ($1, 0, $1)', [text]);

        expect(await sql.read('SELECT id, owner FROM things WHERE id = $1', [text])).toEqual([
          { id: text, owner: text },
        ]);
      },
    );

    test('knows null', async () => {
      await sql.write('INSERT INTO things (id, held, owner) VALUES ($1, $2, $3)', ['a', 0, null]);

      expect(await sql.read('SELECT owner FROM things')).toEqual([{ owner: null }]);
    });

    test.each<[number | bigint]>([
      [0],
      [1],
      [-1],
      [1_767_225_600_000],
      [Number.MAX_SAFE_INTEGER],
      [Number.MIN_SAFE_INTEGER],
      [2n ** 53n],
      [-(2n ** 53n)],
      [9_007_199_254_740_993n],
      [2n ** 63n - 1n],
      [-(2n ** 63n)],
    ])('returns the whole number %p exactly, as a number when a number can hold it', async (held) => {
      expect(await sql.write(`${insert} RETURNING held`, ['a', held])).toEqual([{ held }]);
      expect(await sql.read('SELECT held FROM things WHERE held = $1', [held])).toEqual([{ held }]);
    });

    test('accepts a small whole number as bigint too', async () => {
      await sql.write(insert, ['a', 7n]);

      expect(await sql.read('SELECT held FROM things')).toEqual([{ held: 7 }]);
    });

    test('adds exactly above 2^53', async () => {
      await sql.write(insert, ['a', 2n ** 53n]);
      await sql.write(insert, ['b', 1]);

      expect(await sql.read('SELECT CAST(SUM(held) AS BIGINT) AS sum, COUNT(*) AS rows FROM things')).toEqual([
        { sum: 2n ** 53n + 1n, rows: 2 },
      ]);
    });

    test('with RETURNING returns the rows that it changed, and no others', async () => {
      await add(3);

      expect(
        await sql.write('UPDATE things SET held = held + $1 WHERE id > $2 RETURNING id, held', [5, 'thing_001']),
      ).toEqual([{ id: 'thing_002', held: 5 }]);
      expect(await sql.write('DELETE FROM things WHERE id = $1 RETURNING id', ['none'])).toEqual([]);
    });

    test('returns the number of rows that it changed, each counted once', async () => {
      const changes = (text: string, values: SqlValue[] = []): Promise<number> =>
        sql.transaction((query) => query.changes(text, values));
      await add(3);

      expect(
        await changes(
          `INSERT INTO things (id, held) VALUES ('a', 0), ('thing_000', 0), ('b', 0), ('b', 0)
           ON CONFLICT (id) DO NOTHING`,
        ),
      ).toBe(2);
      expect(
        await changes(
          `UPDATE things SET held = v.column2
           FROM (VALUES ('a', $1), ('b', 2), ('b', 2), ('none', 3)) AS v
           WHERE id = v.column1 AND held = 0`,
          [1],
        ),
      ).toBe(2);
      expect(await changes('DELETE FROM things WHERE id = $1', ['none'])).toBe(0);
      await expect(changes('INSERT INTO things (id, held) VALUES ($1, 0)', ['a'])).rejects.toThrow();
    });

    test('of a list shares its transaction, and returns the rows that it asks for', async () => {
      await add(2);

      expect(
        await sql.writeAll([
          ['UPDATE things SET held = $1 RETURNING held', [1]],
          ['DELETE FROM things WHERE held = $1 AND id = $2', [1, 'thing_000']],
          ["INSERT INTO things (id, held) VALUES ('a', 0) ON CONFLICT (id) DO NOTHING RETURNING id", []],
          ["INSERT INTO things (id, held) VALUES ('a', 0) ON CONFLICT (id) DO NOTHING RETURNING id", []],
        ]),
      ).toEqual([[{ held: 1 }, { held: 1 }], [], [{ id: 'a' }], []]);
      expect(await sql.read('SELECT id, held FROM things ORDER BY id')).toEqual([
        { id: 'a', held: 0 },
        { id: 'thing_001', held: 1 },
      ]);
    });

    test('of a list shares its transaction, and gives the number of rows that it changed', async () => {
      await add(2);

      expect(
        await sql.changeAll([
          ['UPDATE things SET held = $1', [1]],
          ['DELETE FROM things WHERE held = $1 AND id = $2', [1, 'thing_000']],
          ["INSERT INTO things (id, held) VALUES ('a', 0) ON CONFLICT (id) DO NOTHING", []],
          ["INSERT INTO things (id, held) VALUES ('a', 0) ON CONFLICT (id) DO NOTHING", []],
        ]),
      ).toEqual([2, 1, 1, 0]);
      await expect(sql.changeAll(['b', 'a'].map((id) => [insert, [id, 0]] as const))).rejects.toThrow();
      expect(await count(sql)).toBe(2);
    });

    test.each([
      ['first', ['thing_000', 'a', 'b']],
      ['last', ['a', 'b', 'thing_000']],
    ])('of a list leaves nothing if the %s one fails', async (_which, ids) => {
      await add(1);

      await expect(sql.writeAll(ids.map((id) => [insert, [id, 0]] as const))).rejects.toThrow();

      expect(await count(sql)).toBe(1);
    });

    test('with ON CONFLICT shows by its rows whether it wrote', async () => {
      const once = `${insert} ON CONFLICT (id) DO NOTHING RETURNING id`;

      expect(await sql.write(once, ['a', 1])).toEqual([{ id: 'a' }]);
      expect(await sql.write(once, ['a', 2])).toEqual([]);
      expect(
        await sql.write(`${insert} ON CONFLICT (id) DO UPDATE SET held = excluded.held RETURNING held`, ['a', 3]),
      ).toEqual([{ held: 3 }]);
    });

    test('that breaks a unique key rejects, and leaves the row unchanged', async () => {
      await sql.write(insert, ['a', 1]);

      await expect(sql.write(insert, ['a', 2])).rejects.toThrow(/unique/i);

      expect(await sql.read('SELECT held FROM things')).toEqual([{ held: 1 }]);
    });
  });

  describe('a statement at the end of a transaction', () => {
    test('runs after the work, in the order of the list', async () => {
      await sql.transaction(async (query) => {
        query.atEnd(['UPDATE things SET held = held + $1', [1]], ['UPDATE things SET held = held * $1', [10]]);
        await query(insert, ['a', 1]);
      });

      expect(await sql.read('SELECT held FROM things')).toEqual([{ held: 20 }]);
    });

    test('needs no other statement', async () => {
      await sql.transaction(async (query) => {
        query.atEnd([insert, ['a', 1]], [insert, ['b', 2]]);
      });

      expect(await count(sql)).toBe(2);
    });

    test.each([
      ['the only ones', false],
      ['after others', true],
    ])('leaves nothing of the transaction if it fails, for %s', async (_which, hasOthers) => {
      await sql.write(insert, ['a', 1]);

      await expect(
        sql.transaction(async (query) => {
          if (hasOthers) await query(insert, ['c', 1]);
          query.atEnd([insert, ['b', 1]], [insert, ['a', 1]], [insert, ['d', 1]]);
        }),
      ).rejects.toThrow(/unique/i);

      expect(await count(sql)).toBe(1);
      await sql.write(insert, ['e', 1]);
    });

    test('does not run if the work fails', async () => {
      await expect(
        sql.transaction(async (query) => {
          query.atEnd([insert, ['a', 1]]);
          throw new Error('refused');
        }),
      ).rejects.toThrow('refused');

      expect(await count(sql)).toBe(0);
    });

    test('does not run if an earlier statement failed, even if the work goes on', async () => {
      await sql.write(insert, ['a', 1]);

      await expect(
        sql.transaction(async (query) => {
          query.atEnd([insert, ['b', 1]]);
          await query(insert, ['a', 1]).catch(() => undefined);
        }),
      ).rejects.toThrow(/unique/i);

      expect(await count(sql)).toBe(1);
    });

    test('is refused after the end of the work', async () => {
      let late: (() => void) | undefined;
      await sql.transaction(async (query) => {
        late = () => {
          query.atEnd([insert, ['a', 1]]);
        };
      });

      expect(late).toThrow('has ended');
      expect(await count(sql)).toBe(0);
    });
  });

  describe('a transaction', () => {
    test('returns the result of its work, and the next read sees it', async () => {
      const given = await sql.transaction(async (query) => {
        await query(insert, ['a', 1]);
        return query('SELECT id, held FROM things');
      });

      expect(given).toEqual([{ id: 'a', held: 1 }]);
      expect(await count(sql)).toBe(1);
    });

    test('whose work throws writes nothing, rejects with that error, and affects no other', async () => {
      const thrown = new Error('changed my mind');
      const one = (id: string, failure?: Error): Promise<string> =>
        sql.transaction(async (query) => {
          await query(insert, [id, 0]);
          if (failure !== undefined) throw failure;
          await query('UPDATE things SET held = 1 WHERE id = $1', [id]);
          return id;
        });

      const outcomes = await Promise.allSettled([one('a'), one('b', thrown), one('c')]);

      expect(outcomes).toEqual([
        { status: 'fulfilled', value: 'a' },
        { status: 'rejected', reason: thrown },
        { status: 'fulfilled', value: 'c' },
      ]);
      expect(await sql.read('SELECT id, held FROM things ORDER BY id')).toEqual([
        { id: 'a', held: 1 },
        { id: 'c', held: 1 },
      ]);
    });

    test('runs the statements of one moment in the order of their calls, and each gets its own rows', async () => {
      const answers = await sql.transaction((query) =>
        Promise.all([
          query(insert, ['a', 1]),
          query('UPDATE things SET held = held + $1 WHERE id = $2 RETURNING held', [4, 'a']),
          query.changes('UPDATE things SET owner = $1', ['own']),
          query('SELECT COUNT(*) AS rows FROM things'),
          query('SELECT id, held, owner FROM things WHERE id = $1', ['a']),
        ]),
      );

      expect(answers).toEqual([[], [{ held: 5 }], 1, [{ rows: 1 }], [{ id: 'a', held: 5, owner: 'own' }]]);
    });

    test('writes nothing if one of the statements of one moment fails', async () => {
      await sql.write(insert, ['a', 0]);
      const failing = sql.transaction((query) =>
        Promise.all([query(insert, ['b', 0]), query(insert, ['a', 0]), query(insert, ['c', 0])]),
      );

      await expect(failing).rejects.toThrow(/unique/i);

      expect(await count(sql)).toBe(1);
      await sql.transaction((query) => query(insert, ['d', 0]));
      expect(await count(sql)).toBe(2);
    });

    test('refuses the statements of work that has failed, whichever part of it goes on', async () => {
      const thrown = new Error('changed my mind');
      const ended = Promise.withResolvers<undefined>();
      const goOn = async (query: SqlQuery): Promise<void> => {
        await ended.promise;
        await query(insert, ['late', 0]);
      };
      let part: Promise<void> | undefined;
      const failing = sql.transaction((query) => {
        part = goOn(query);
        return Promise.all([query(insert, ['a', 0]).then(() => Promise.reject(thrown)), part]);
      });

      await expect(failing).rejects.toBe(thrown);

      ended.resolve(undefined);
      await expect(part).rejects.toThrow(/has ended/);
      expect(await count(sql)).toBe(0);
    });

    test('with a failed statement is rolled back, even when its work continued', async () => {
      await sql.write(insert, ['a', 0]);
      const stubborn = sql.transaction(async (query) => {
        await query(insert, ['b', 0]);
        await query(insert, ['a', 0]).catch(() => undefined);
      });

      await expect(stubborn).rejects.toThrow();

      expect(await count(sql)).toBe(1);
    });

    test('is invisible to reads before its commit', async () => {
      const seen = await sql.transaction(async (query) => {
        await query(insert, ['a', 0]);
        // product code never reads outside its own transaction
        return count(sql);
      });

      expect(seen).toBe(0);
      expect(await count(sql)).toBe(1);
    });

    test('in any mix leaves exactly the rows of the transactions that resolved', async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean()), { maxLength: 12 }),
          async (plans) => {
            run += 1;
            const work = plans.map(([rows, fails], plan) =>
              sql.transaction(async (query) => {
                const ids = Array.from({ length: rows }, (_, row) => `${run}-${plan}-${row}`);
                for (const id of ids) await query(insert, [id, run]);
                if (fails) throw new Error('planned');
                return ids;
              }),
            );
            const told = (await Promise.allSettled(work)).flatMap((outcome) =>
              outcome.status === 'fulfilled' ? outcome.value : [],
            );

            const kept = await sql.read<{ id: string }>('SELECT id FROM things WHERE held = $1', [run]);
            expect(kept.map(({ id }) => id).sort()).toEqual(told.sort());
          },
        ),
        { numRuns: 25 },
      );
    });
  });

  test('concurrent updates never take more than there is', async () => {
    await sql.write(insert, ['purse', 100]);
    const take = (): Promise<unknown[]> =>
      sql.transaction((query) =>
        query('UPDATE things SET held = held - $1 WHERE id = $2 AND held >= $1 RETURNING held', [7, 'purse']),
      );

    const taken = await Promise.all(Array.from({ length: 40 }, take));

    expect(taken.filter((rows) => rows.length === 1)).toHaveLength(14);
    expect(await sql.read('SELECT held FROM things')).toEqual([{ held: 2 }]);
  });

  test('two concurrent claims get different rows, and together all of them', async () => {
    await add(20);
    const claim = async (by: Sql, owner: string): Promise<string[]> => {
      const rows = await by.write<{ id: string }>(
        `UPDATE things SET owner = $1 WHERE id IN (
          SELECT id FROM things WHERE owner IS NULL ORDER BY id LIMIT 5 ${by.skipLocked}
        ) RETURNING id`,
        [owner],
      );
      return rows.map(({ id }) => id);
    };
    const other = open();

    const claimed = (
      await Promise.all([claim(sql, 'a'), claim(other, 'b'), claim(sql, 'a'), claim(other, 'b')])
    ).flat();
    const left = await claim(sql, 'a');

    expect(new Set(claimed).size).toBe(claimed.length);
    expect(claimed.length + left.length).toBe(
      20 - Number((await sql.read('SELECT COUNT(*) AS rows FROM things WHERE owner IS NULL'))[0]?.['rows']),
    );
    expect(left.filter((id) => claimed.includes(id))).toEqual([]);
  });

  test('reads see the writes of another process', async () => {
    await open().write(insert, ['a', 1]);

    expect(await count(sql)).toBe(1);
  });

  test('reserved statements wait for no transaction that reads for long', async () => {
    const small = open(1);
    const done = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    const isHeld = small.engine === 'postgres';
    const long = small.transaction(async (query) => {
      await query('SELECT 1 AS one');
      begun.resolve(undefined);
      // the embedded store has one writer, so nothing may wait inside its transactions
      if (isHeld) await done.promise;
    });
    await begun.promise;

    await small.reserved.write(insert, ['own', 1]);
    expect(await small.reserved.read('SELECT id FROM things')).toEqual([{ id: 'own' }]);

    done.resolve(undefined);
    await long;
    await small.close();
  });

  test('close() waits for every earlier call', async () => {
    const small = open(2);
    const asked = [
      ...Array.from({ length: 20 }, (_, row) => small.write(insert, [`row_${row}`, row])),
      small.read('SELECT 1 AS one'),
    ];

    await small.close();

    expect((await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await count(sql)).toBe(20);
    await expect(small.write(insert, ['late', 0])).rejects.toThrow();
    await expect(small.read('SELECT 1 AS one')).rejects.toThrow();
  });
}

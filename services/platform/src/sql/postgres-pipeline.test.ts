import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import { newPipeline } from './postgres-pipeline.ts';
import { openPostgres } from './postgres.ts';
import type { Sql } from './sql.ts';

/** A line to a server that counts how often the client spoke after the server had. */
interface CountedLine {
  readonly url: string;
  turns(): number;
  stop(): Promise<void>;
}

async function openCountedLine(server: string): Promise<CountedLine> {
  const { hostname, port } = new URL(server);
  let [turns, speaker] = [0, 'server'];
  const line = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.on('data', (bytes: Buffer) => {
      if (speaker === 'server') turns += 1;
      speaker = 'client';
      far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      speaker = 'server';
      near.write(bytes);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => undefined).on('close', () => other.destroy());
  }).listen(0, '127.0.0.1');
  await once(line, 'listening');
  const url = Object.assign(new URL(server), { host: `127.0.0.1:${(line.address() as AddressInfo).port}` });
  return {
    url: url.href,
    turns: () => turns,
    stop: async () => {
      line.close();
      await once(line, 'close');
    },
  };
}

describeWith(postgresServer, 'round trips', (url) => {
  let line: CountedLine;
  let sql: Sql;
  beforeEach(async () => {
    line = await openCountedLine(url());
    sql = openPostgres(line.url, { connections: 1 });
    await sql.write('CREATE TABLE things (id INTEGER PRIMARY KEY, value INTEGER)');
  });
  afterEach(async () => {
    await sql.write('DROP TABLE things');
    await sql.close();
    await line.stop();
  });
  const insert = 'INSERT INTO things (id) VALUES ($1)';
  const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = line.turns();
    await work();
    return line.turns() - before;
  };

  test.each<[string, number, (sql: Sql) => Promise<unknown>]>([
    ['a statement', 1, (on) => on.write(insert, [1])],
    ['a list of statements', 1, (on) => on.writeAll([1, 2, 3].map((id) => [insert, [id]]))],
    ['a list of changes', 1, (on) => on.changeAll([1, 2, 3].map((id) => [insert, [id]]))],
    ['a transaction of one statement', 2, (on) => on.transaction((query) => query(insert, [1]))],
    [
      'a transaction of statements of one moment',
      2,
      (on) => on.transaction((query) => Promise.all([1, 2, 3, 4].map((id) => query(insert, [id])))),
    ],
    [
      'a transaction of statements at its end alone',
      1,
      (on) =>
        on.transaction(async (query) => {
          query.atEnd([insert, [1]], [insert, [2]]);
        }),
    ],
    [
      'a transaction whose last statements are at its end',
      2,
      (on) =>
        on.transaction(async (query) => {
          await query(insert, [1]);
          query.atEnd([insert, [2]], [insert, [3]]);
        }),
    ],
    [
      'a transaction whose statements wait for each other',
      3,
      (on) =>
        on.transaction(async (query) => {
          await query(insert, [1]);
          await query(insert, [2]);
        }),
    ],
  ])('%s takes %i', async (_what, turns, work) => {
    expect(await turnsOf(() => work(sql))).toBe(turns);
  });

  test('no statement runs if the transaction could not be opened', async () => {
    const direct = new pg.Client(url());
    await direct.connect();
    try {
      const pipeline = newPipeline({ client: direct, statements: undefined });
      const sent = [
        pipeline.send('BEGIN ISOLATION LEVEL NOWHERE', []),
        pipeline.send(insert, ['1']),
        pipeline.send(insert, ['2']),
      ];

      expect((await Promise.allSettled(sent)).map(({ status }) => status)).toEqual([
        'rejected',
        'rejected',
        'rejected',
      ]);
      expect((await pipeline.sendAlone('SELECT id FROM things')).rows).toEqual([]);
    } finally {
      await direct.end();
    }
  });
});

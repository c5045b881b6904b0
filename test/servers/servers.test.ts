import { createConnection } from 'node:net';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { describeWith } from './describe-with.ts';
import type { Launcher } from './launcher.ts';
import { leaseServer } from './lease-server.ts';
import { natsServer } from './nats-server.ts';
import { postgresServer } from './postgres-server.ts';
import { redisServer } from './redis-server.ts';

async function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = createConnection(Number(port), hostname);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

for (const launcher of [postgresServer, redisServer, natsServer] as readonly Launcher[]) {
  describeWith(launcher, 'a launcher', (url) => {
    test('starts a server that answers on the loopback address', async () => {
      expect(new URL(url()).hostname).toBe('127.0.0.1');
      expect(await answers(url())).toBe(true);
    });

    test('starts a second server beside the first, and a second stop does nothing', async () => {
      const second = await launcher.start();
      expect(second?.url).not.toBe(url());

      await second?.stop();
      await second?.stop();

      expect(await answers(second?.url ?? '')).toBe(false);
      expect(await answers(url())).toBe(true);
    });
  });
}

describeWith(postgresServer, 'a leased server', (url) => {
  const ask = async (server: string, ...texts: readonly string[]): Promise<unknown> => {
    const client = new pg.Client(server);
    await client.connect();
    try {
      let last: unknown;
      for (const text of texts) last = (await client.query(text)).rows[0];
      return last;
    } finally {
      await client.end();
    }
  };

  test('is another than those that are leased, and goes on without what its tests have left', async () => {
    const first = (await leaseServer(postgresServer))!;
    expect(first.url).not.toBe(url());
    await ask(
      first.url,
      'CREATE TABLE kept (id INT)',
      'CREATE DATABASE kept',
      'CREATE ROLE kept LOGIN',
      "ALTER SYSTEM SET work_mem = '1MB'",
    );
    const left = new pg.Client(first.url);
    left.on('error', () => undefined);
    await left.connect();
    await first.stop();
    await first.stop();

    const leases = [];
    do leases.push((await leaseServer(postgresServer))!);
    while (leases.at(-1)?.pid !== first.pid && leases.length < 10);
    const [again] = leases.slice(-1);

    expect(again).toMatchObject({ url: first.url, pid: first.pid });
    expect(
      await ask(
        first.url,
        `SELECT to_regclass('kept') AS relation, 
          (SELECT count(*)::INT FROM pg_file_settings WHERE name = 'work_mem') AS settings,
          (SELECT count(*)::INT FROM pg_database WHERE datname = 'kept') AS databases,
          (SELECT count(*)::INT FROM pg_roles WHERE rolname = 'kept') AS roles`,
      ),
    ).toEqual({ relation: null, settings: 0, databases: 0, roles: 0 });
    for (const lease of leases) await lease.stop();
  });
});

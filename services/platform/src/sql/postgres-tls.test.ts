import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunningServer } from '../../../../test/servers/launcher.ts';
import { postgresServer, startPostgres } from '../../../../test/servers/postgres-server.ts';
import { writeServerTls } from '../../../../test/servers/server-certificates.ts';
import { newAuthority, writeTls } from '../../testing/certificates.ts';
import type { WrittenTls } from '../../testing/certificates.ts';
import { openPostgres } from './postgres.ts';
import { postgresTlsFault } from './postgres-tls.ts';

const withPostgres = postgresServer.missing() === undefined ? describe : describe.skip;

withPostgres('a server with TLS', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-postgres-tls-'));
  const [authority, stranger] = [newAuthority(), newAuthority('a stranger')];
  let own: WrittenTls;
  let strange: WrittenTls;
  let server: RunningServer | undefined;
  beforeAll(async () => {
    own = writeTls(path.join(folder, 'own'), authority.issue({ name: 'a service' }), authority.certificate);
    strange = writeTls(path.join(folder, 'strange'), stranger.issue(), stranger.certificate);
    server = await startPostgres((data) => {
      const issued = authority.issue({ alternatives: ['DNS:localhost'] });
      const { certificate, key, ca } = writeServerTls(data, issued, authority.certificate);
      writeFileSync(path.join(data, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 trust clientcert=verify-ca\n');
      appendFileSync(
        path.join(data, 'postgresql.conf'),
        `ssl = on\nssl_cert_file = '${certificate}'\nssl_key_file = '${key}'\nssl_ca_file = '${ca}'\n`,
      );
    });
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    for (const one of [authority, stranger]) one.end();
    rmSync(folder, { recursive: true });
  });
  const at = (host: string, query: Readonly<Record<string, string>>): string => {
    const url = new URL(server?.url ?? '');
    url.hostname = host;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  };
  const shown = ({ certificate, key }: WrittenTls) => ({ sslcert: certificate, sslkey: key });
  const one = async (url: string): Promise<unknown> => {
    const sql = openPostgres(url, { connections: 1 });
    try {
      return await sql.read('SELECT ssl AS encrypted FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    } finally {
      await sql.close();
    }
  };

  test.each<[string, string, () => Readonly<Record<string, string>>]>([
    [
      'its name, its authority and a client certificate',
      'localhost',
      () => ({ sslmode: 'verify-full', sslrootcert: own.ca, ...shown(own) }),
    ],
    ['its authority alone', '127.0.0.1', () => ({ sslmode: 'verify-ca', sslrootcert: own.ca, ...shown(own) })],
    ['nothing but encryption', '127.0.0.1', () => ({ sslmode: 'require', ...shown(own) })],
  ])('is used with %s', async (_what, host, query) => {
    expect(await one(at(host, query()))).toEqual([{ encrypted: true }]);
  });

  test.each<[string, string, () => Readonly<Record<string, string>>]>([
    ['another name', '127.0.0.1', () => ({ sslmode: 'verify-full', sslrootcert: own.ca, ...shown(own) })],
    ['another authority', 'localhost', () => ({ sslmode: 'verify-full', sslrootcert: strange.ca, ...shown(own) })],
    ['an authority unknown to the system', 'localhost', () => ({ sslmode: 'verify-full', ...shown(own) })],
    [
      'another authority and any name',
      'localhost',
      () => ({ sslmode: 'require', sslrootcert: strange.ca, ...shown(own) }),
    ],
    ['a client without a certificate', 'localhost', () => ({ sslmode: 'verify-full', sslrootcert: own.ca })],
    ['a client of a stranger', 'localhost', () => ({ sslmode: 'verify-full', sslrootcert: own.ca, ...shown(strange) })],
    ['plaintext', 'localhost', () => ({ sslmode: 'disable' })],
  ])('is refused, and unavailable, with %s', async (_what, host, query) => {
    await expect(one(at(host, query()))).rejects.toMatchObject({ name: 'StoreUnavailable', maybeWritten: false });
  });

  test('is used with the newest sound files at each connection, and with the last ones while a file is missing', async () => {
    const renewed = path.join(folder, 'renewed');
    const files = writeTls(renewed, stranger.issue(), stranger.certificate);
    const sql = openPostgres(at('localhost', { sslmode: 'verify-full', sslrootcert: files.ca, ...shown(files) }), {
      connections: 1,
    });
    await expect(sql.read('SELECT 1')).rejects.toMatchObject({ name: 'StoreUnavailable' });

    writeTls(renewed, authority.issue(), authority.certificate);
    expect(await sql.read('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    rmSync(files.ca);
    await sql.read('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    expect(await sql.read('SELECT 2 AS two')).toEqual([{ two: 2 }]);

    await sql.close();
  });
});

test('a file that is missing at the start is named', () => {
  expect(() => openPostgres('postgres://db/x?sslmode=verify-full&sslrootcert=/nowhere/ca.crt')).toThrow(
    /\/nowhere\/ca\.crt/,
  );
});

test.each([
  ['postgres://db/x', undefined],
  ['postgres://db/x?sslmode=require', undefined],
  ['postgres://db/x?sslmode=prefer', 'expected sslmode to be one of: disable, require, verify-ca, verify-full'],
  ['postgres://db/x?sslmode=verify-ca', 'expected sslrootcert together with sslmode=verify-ca'],
  ['postgres://db/x?sslrootcert=a', 'expected sslmode=verify-full together with the files of TLS'],
  ['postgres://db/x?sslmode=verify-full&sslcert=a', 'expected sslcert and sslkey together'],
])('the TLS of %s: %s', (url, fault) => {
  expect(postgresTlsFault(url)).toBe(fault);
});

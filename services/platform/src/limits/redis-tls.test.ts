import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findProgram } from '../../../../test/servers/find-program.ts';
import type { RunningServer } from '../../../../test/servers/launcher.ts';
import { redisServer } from '../../../../test/servers/redis-server.ts';
import { newServerFolder } from '../../../../test/servers/run-folder.ts';
import { writeServerTls } from '../../../../test/servers/server-certificates.ts';
import { startProcess } from '../../../../test/servers/start-process.ts';
import { newAuthority, writeTls } from '../../testing/certificates.ts';
import type { WrittenTls } from '../../testing/certificates.ts';
import { silentLog } from '../log.ts';
import { Secret } from '../secret.ts';
import { openRedisLink } from './redis-link.ts';
import { redisScript } from './redis-script.ts';

const withRedis = redisServer.missing() === undefined ? describe : describe.skip;
const ONE = redisScript('return 1');
/** The first call over TLS on a busy machine. */
const DEADLINE_MS = 5000;

withRedis('a Redis with TLS', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-redis-tls-'));
  const [authority, stranger] = [newAuthority(), newAuthority('a stranger')];
  let own: WrittenTls;
  let strange: WrittenTls;
  let server: RunningServer;
  beforeAll(async () => {
    own = writeTls(path.join(folder, 'own'), authority.issue({ name: 'a service' }), authority.certificate);
    strange = writeTls(path.join(folder, 'strange'), stranger.issue(), stranger.certificate);
    const serving = newServerFolder('redis-tls');
    const issued = authority.issue({ alternatives: ['DNS:localhost'] });
    const tls = writeServerTls(path.join(serving, 'data'), issued, authority.certificate);
    server = await startProcess({
      program: findProgram('redis-server') ?? '',
      folder: serving,
      args: (port) => [
        ...['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--save', ''],
        ...['--tls-cert-file', tls.certificate, '--tls-key-file', tls.key, '--tls-ca-cert-file', tls.ca],
        ...['--tls-auth-clients', 'yes', '--dir', path.join(serving, 'data')],
      ],
      ready: /ready to accept connections/i,
      url: (port) => `rediss://localhost:${port}`,
    });
  });
  afterAll(async () => {
    await server.stop();
    for (const one of [authority, stranger]) one.end();
    rmSync(folder, { recursive: true });
  });
  const ask = async (host: string, files: Partial<WrittenTls>): Promise<unknown> => {
    const url = new URL(server.url.replace('localhost', host));
    for (const [name, file] of Object.entries(files)) url.searchParams.set(name, file);
    const link = await openRedisLink({ url: new Secret(url.href), log: silentLog, deadlineMs: DEADLINE_MS });
    try {
      return link.isAway() ? 'away' : await link.run(ONE, { keys: [], args: [] });
    } finally {
      await link.close();
    }
  };

  test('is used with its authority, its name and a client certificate', async () => {
    expect(await ask('localhost', own)).toBe(1);
  });

  test.each<[string, string, () => Partial<WrittenTls>]>([
    ['another name', '127.0.0.1', () => own],
    ['another authority', 'localhost', () => ({ ...own, ca: strange.ca })],
    ['an authority unknown to the system', 'localhost', () => ({ certificate: own.certificate, key: own.key })],
    ['a client of a stranger', 'localhost', () => ({ ...strange, ca: own.ca })],
    ['a client without a certificate', 'localhost', () => ({ ca: own.ca })],
  ])('is away with %s', async (_what, host, files) => {
    expect(await ask(host, files())).toBe('away');
  });

  test('whose authority cannot be read ends the start, and the file is named', async () => {
    await expect(ask('localhost', { ca: '/nowhere/ca.crt' })).rejects.toThrow(/\/nowhere\/ca\.crt/);
  });
});

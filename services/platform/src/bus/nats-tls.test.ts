import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { findProgram } from '../../../../test/servers/find-program.ts';
import type { RunningServer } from '../../../../test/servers/launcher.ts';
import { natsServer } from '../../../../test/servers/nats-server.ts';
import { newServerFolder } from '../../../../test/servers/run-folder.ts';
import { writeServerTls } from '../../../../test/servers/server-certificates.ts';
import { startProcess } from '../../../../test/servers/start-process.ts';
import { inTime } from '../../testing/bounded-waits.ts';
import { anEvent } from '../../testing/bus-conformance.ts';
import { newAuthority, writeTls } from '../../testing/certificates.ts';
import type { Authority, Issued, WrittenTls } from '../../testing/certificates.ts';
import { busSettings } from './bus-settings.ts';
import type { BusEntry } from './bus-settings.ts';
import { openNatsBus } from './nats-bus.ts';
import { silentLog } from '../log.ts';

const withNats = natsServer.missing() === undefined ? describe : describe.skip;

/** Wants a certificate of its clients, and a password. */
function startTlsNats(issued: Issued, ca: string): Promise<RunningServer> {
  const folder = newServerFolder('nats-tls');
  const tls = writeServerTls(path.join(folder, 'data'), issued, ca);
  return startProcess({
    program: findProgram('nats-server') ?? '',
    folder,
    args: (port) => [
      ...['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', path.join(folder, 'data')],
      ...['--tlsverify', '--tlscert', tls.certificate, '--tlskey', tls.key, '--tlscacert', tls.ca],
      ...['--user', 'me', '--pass', 'p@ss'],
    ],
    ready: /Server is ready/,
    url: (port) => `tls://me:p%40ss@localhost:${port}`,
  });
}

withNats('a bus over TLS', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-nats-tls-'));
  const [authority, stranger]: readonly [Authority, Authority] = [newAuthority(), newAuthority('a stranger')];
  let own: WrittenTls;
  let strange: WrittenTls;
  let server: RunningServer;
  let misnamed: RunningServer;
  let plain: RunningServer | undefined;
  beforeAll(async () => {
    own = writeTls(path.join(folder, 'own'), authority.issue({ name: 'a service' }), authority.certificate);
    strange = writeTls(path.join(folder, 'strange'), stranger.issue(), stranger.certificate);
    server = await startTlsNats(authority.issue(), authority.certificate);
    misnamed = await startTlsNats(authority.issue({ alternatives: ['DNS:elsewhere'] }), authority.certificate);
    plain = await natsServer.start();
  });
  afterAll(async () => {
    await Promise.all([server.stop(), misnamed.stop(), plain?.stop()]);
    for (const one of [authority, stranger]) one.end();
    rmSync(folder, { recursive: true });
  });
  const publish = async (entry: BusEntry): Promise<void> => {
    const bus = await inTime(openNatsBus(busSettings(entry), silentLog));
    await bus.publish(ProblemSchema, anEvent('a'), 'a');
    await bus.close();
  };

  test('works with the authority, a client certificate and the credentials of the address', async () => {
    await publish({ servers: [server.url], tls: own });
  });

  test.each<[string, () => BusEntry]>([
    ['an authority that did not sign the server', () => ({ servers: [server.url], tls: { ...own, ca: strange.ca } })],
    ['the authorities of the system', () => server.url],
    ['a server of another name', () => ({ servers: [misnamed.url], tls: own })],
    ['a client certificate of a stranger', () => ({ servers: [server.url], tls: { ...strange, ca: own.ca } })],
    ['no client certificate', () => ({ servers: [server.url], tls: { ca: own.ca } })],
    ['a wrong password', () => ({ servers: [server.url.replace('p%40ss', 'other')], tls: own })],
    ['a server without TLS', () => (plain?.url ?? '').replace('nats://', 'tls://')],
  ])('refuses %s', async (_what, entry) => {
    await expect(publish(entry())).rejects.toThrow();
  });

  test('reads its certificates again at each connection', async () => {
    const renewed = path.join(folder, 'renewed');
    const files = writeTls(renewed, stranger.issue(), stranger.certificate);
    await expect(publish({ servers: [server.url], tls: files })).rejects.toThrow();

    writeTls(renewed, authority.issue(), authority.certificate);

    await publish({ servers: [server.url], tls: files });
  });
});

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { anyPermits } from '../../../testing/any-permits.ts';
import { fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import { answer, startRawOrigin } from '../../../testing/raw-origin.ts';
import type { RawOrigin } from '../../../testing/raw-origin.ts';
import { addressPolicy } from '../addresses/address-policy.ts';
import type { AddressPolicy } from '../addresses/address-policy.ts';
import { FetchFault, NOT_REACHED } from '../../domain/fetch-fault.ts';
import { newGuardedConnector } from './guarded-connector.ts';

const pem = (name: string): Buffer =>
  readFileSync(new URL(`../../../testing/fixtures/tls/${name}.pem`, import.meta.url));
const RIGHT = answer(['200 OK', 'content-length: 3'], 'abc');
const world = await fetchWorldOfTests();
/** A server that no test may dial, except where the test permits it. */
let target: RawOrigin;

beforeAll(async () => {
  world.dns.answer('media.example', ['127.0.0.1']);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), pem('authority').toString()]);
  target = await startRawOrigin();
});
afterAll(() => target.close());

/** Calls the connector as the HTTP client does, after all checks of the written address. */
async function connect(
  hostname: string,
  protocol: string,
  policy: AddressPolicy,
  { port = target.port, signal = new AbortController().signal } = {},
): Promise<Error | Socket> {
  const sockets: Socket[] = [];
  const connector = newGuardedConnector({
    policy,
    dnsServers: [world.dns.address],
    dnsMs: 1000,
    signal,
    enter: () => undefined,
    permits: anyPermits(),
    opened: (socket) => {
      sockets.push(socket);
    },
  });
  const outcome = await new Promise<Error | Socket>((resolve) => {
    connector({ hostname, host: `${hostname}:${port}`, protocol, port: String(port) }, (error, socket) => {
      resolve(error ?? socket);
    });
  });
  for (const socket of sockets.toReversed()) socket.destroy();
  return outcome;
}

describe.each(['http:', 'https:'])('a connection for %s', (protocol) => {
  const strict = addressPolicy({ allow: [], ports: [80] });

  test.each([
    '127.0.0.1',
    '127.0.0.2',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    'fe80::1',
    '10.0.0.1',
    '169.254.169.254',
    'media.example',
    'localhost',
    '',
  ])('is not made to %j, even if an earlier check passed', async (hostname) => {
    const before = target.connections();
    const outcome = await connect(hostname, protocol, strict);

    expect(outcome).toBeInstanceOf(Error);
    expect(target.connections()).toBe(before);
  });

  test.each(['127.0.0.1', 'media.example'])(
    'to %s sends no byte when the reached address is refused',
    async (hostname) => {
      let checks = 0;
      const lenient: AddressPolicy = { ...strict, hasExceptionOn: () => true, permits: () => (checks += 1) < 2 };
      const before = [target.connections(), target.received()];
      const outcome = await connect(hostname, protocol, lenient);

      expect(outcome).toMatchObject({ code: 'address', said: NOT_REACHED });
      expect([target.connections(), target.received()]).toEqual([before[0]! + 1, before[1]]);
    },
  );

  test('is stopped by the block list alone when the policy is wrong', async () => {
    const mistaken: AddressPolicy = { ...strict, permits: () => true };
    const before = target.connections();

    expect(await connect('media.example', protocol, mistaken)).toMatchObject({ code: 'ERR_IP_BLOCKED' });
    expect(target.connections()).toBe(before);
  });
});

describe.each(['http:', 'https:'])('a pending connection for %s', (protocol) => {
  const open = () => addressPolicy({ allow: [{ host: '127.0.0.1', port: target.port }], ports: [] });

  test.each(['127.0.0.1', 'media.example', 'silent.example'])(
    'to %s ends immediately when it is aborted',
    async (hostname) => {
      world.dns.answer('silent.example', 'silence');
      for (const isAborted of [true, false]) {
        const giving = new AbortController();
        const reason = new FetchFault('busy', 'given up');
        if (isAborted) giving.abort(reason);
        const outcome = connect(hostname, protocol, open(), { signal: giving.signal });
        giving.abort(reason);

        expect(await outcome).toBeInstanceOf(Error);
      }
      expect(target.received()).toBe(0);
    },
  );

  test('ignores an abort after it was made', async () => {
    const giving = new AbortController();
    const server = await startRawOrigin({ tls: { key: pem('key'), cert: pem('good') } });
    const made = (await connect(
      '127.0.0.1',
      protocol,
      addressPolicy({ allow: [{ host: '127.0.0.1', port: server.port }], ports: [] }),
      { port: server.port, signal: giving.signal },
    )) as Socket;
    const errors: unknown[] = [];
    made.on('error', (error) => errors.push(error));
    giving.abort(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    await server.close();

    expect(errors).toEqual([]);
  });
});

describe('a certificate', () => {
  const servers: RawOrigin[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  const fetchFrom = async (certificate: string, name: string, options: tls.TlsOptions = {}) => {
    const server = await startRawOrigin({ tls: { key: pem('key'), cert: pem(certificate), ...options } });
    servers.push(server);
    const outcome = await world.fetchOf(server.url(RIGHT).replace('127.0.0.1', name), {
      policy: addressPolicy({ allow: [{ host: '127.0.0.1', port: server.port }], ports: [] }),
    });
    return { outcome, received: server.received() };
  };

  test.each([
    ['good', 'media.example'],
    ['good', '127.0.0.1'],
    ['wildcard', 'any.media.example'],
  ])('%s is accepted for %s', async (certificate, name) => {
    world.dns.answer('any.media.example', ['127.0.0.1']);

    expect((await fetchFrom(certificate, name)).outcome).toEqual({ bytes: Buffer.from('abc') });
  });

  test.each([
    ['expired', 'media.example'],
    ['not-yet', 'media.example'],
    ['other-name', 'media.example'],
    ['other-name', '127.0.0.1'],
    ['self-signed', 'media.example'],
    ['self-signed', '127.0.0.1'],
    ['of-a-stranger', 'media.example'],
    ['below-a-leaf', 'media.example'],
    ['partial', 'media.example'],
    ['no-name', '127.0.0.1'],
    ['wildcard', '127.0.0.1'],
    ['wildcard', 'a.b.media.example'],
    ['wildcard', 'media.example'],
    ['good', 'other.example'],
    ['good', 'media.example.other.example'],
  ])('%s is refused for %s, before a byte is sent', async (certificate, name) => {
    for (const other of ['a.b.media.example', 'other.example', 'media.example.other.example'])
      world.dns.answer(other, ['127.0.0.1']);
    const { outcome, received } = await fetchFrom(certificate, name);

    expect(outcome).toMatchObject({ fault: { code: 'network', said: NOT_REACHED } });
    expect(received).toBe(0);
  });

  test.each<[string, tls.TlsOptions]>([
    ['unsafe versions of TLS', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }],
    ['HTTP/2 only', { ALPNProtocols: ['h2'] }],
  ])('of a server that speaks %s is not accepted', async (_what, options) => {
    expect((await fetchFrom('good', 'media.example', options)).outcome).toMatchObject({
      fault: { code: 'network', said: NOT_REACHED },
    });
  });

  test('that never comes is not waited for: the server sends plain text or another protocol', async () => {
    for (const banner of ['HTTP/1.1 200 OK\r\n\r\n', 'SSH-2.0-banner\r\n', '\x15\x03\x01\x00\x02\x02\x28']) {
      const plain = createServer((socket) => {
        socket
          .on('error', () => undefined)
          .resume()
          .end(banner, 'latin1');
      });
      await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
      const { port } = plain.address() as AddressInfo;
      const fault = await world.faultOf(`https://127.0.0.1:${port}/`, {
        policy: addressPolicy({ allow: [{ host: '127.0.0.1', port }], ports: [] }),
      });
      await new Promise((resolve) => plain.close(resolve));

      expect(fault).toBeInstanceOf(FetchFault);
      expect(fault).toMatchObject({ code: 'network', said: NOT_REACHED });
    }
  });
});

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { SecureContextOptions } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Client, Metadata, credentials } from '@grpc/grpc-js';
import { fromBinary, toBinary, create } from '@bufbuild/protobuf';
import {
  MediaService as MediaContract,
  StageMediaRequestSchema,
  StageMediaResponseSchema,
} from '@reelgate/proto/media/v1/media_service';
import { aCaller } from '../../testing/a-caller.ts';
import { inTime } from '../../testing/bounded-waits.ts';
import { unruled } from '../../testing/unruled.ts';
import { until } from '../../testing/until.ts';
import { newAuthority, writeTls } from '../../testing/certificates.ts';
import type { Authority, Issued } from '../../testing/certificates.ts';
import { partialService } from '../../testing/partial-service.ts';
import { systemClock } from '../clock.ts';
import { silentLog } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { identifyAmong } from '../rpc/callers.ts';
import type { KnownCaller } from '../rpc/callers.ts';
import { startConnectServer } from '../rpc/connect/server.ts';
import { connectGrpc } from '../rpc/grpc/client.ts';
import { startGrpcServer } from '../rpc/grpc/server.ts';
import type { Client as ClientOf } from '../rpc/service.ts';
import { Secret } from '../secret.ts';
import { watchTls } from './tls-files.ts';
import type { CurrentTls, WatchedTls, ServerTls } from './tls-files.ts';

const MediaService = unruled(MediaContract);
const BUF = path.resolve(import.meta.dirname, '../../../../node_modules/.bin/buf');
const KEY = 'key-of-the-program';
const CALLERS: readonly KnownCaller[] = [
  { ...aCaller(), key: new Secret(KEY) },
  { ...aCaller({ name: 'reporting', accounts: ['demo'] }), certificate: 'reporting.lab' },
];
const LISTEN = { host: '127.0.0.1', port: 0 };

let authority: Authority;
let stranger: Authority;
let own: Issued;
let renewed: Issued;
const clients: Record<'reporting' | 'unknown' | 'expired' | 'forged', Issued> = {} as never;
beforeAll(() => {
  authority = newAuthority();
  stranger = newAuthority('another authority');
  own = authority.issue();
  renewed = authority.issue();
  clients.reporting = authority.issue({ name: 'somebody', alternatives: ['DNS:reporting.lab'] });
  clients.unknown = authority.issue({ name: 'nobody.lab', alternatives: [] });
  clients.expired = authority.issue({ name: 'reporting.lab', alternatives: [], days: -1 });
  clients.forged = stranger.issue({ name: 'reporting.lab', alternatives: [] });
});
afterAll(() => {
  authority.end();
  stranger.end();
});

let folder: string;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-ports-'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  rmSync(folder, { recursive: true });
});

function watched(name: string, issued: Issued, ca = authority.certificate): WatchedTls {
  const files = writeTls(path.join(folder, name), issued, ca);
  const tls = watchTls(name, files, { clock: systemClock, log: silentLog, metrics: newMetrics(false) });
  ends.push(() => tls.stop());
  return tls;
}

const binding = partialService(MediaService, {
  stageMedia: async ({ accountId }, { caller }) => ({ media: { object: `${caller.name} for ${accountId}` } }),
});

interface Port {
  readonly port: number;
  readonly material: WatchedTls;
}

async function open(
  start: typeof startGrpcServer | typeof startConnectServer,
  clientCertificates: ServerTls['clientCertificates'],
  { issued = own, ca = authority.certificate }: { readonly issued?: Issued; readonly ca?: string } = {},
): Promise<Port> {
  const material = watched('server', issued, ca);
  const server = await start({
    listen: LISTEN,
    bindings: [binding],
    identify: identifyAmong(CALLERS),
    log: silentLog,
    tls: { material, clientCertificates },
    routes: [],
  });
  ends.push(() => server.stop());
  return { port: server.port, material };
}

interface Calling {
  readonly shows?: Issued | undefined;
  readonly key?: string | undefined;
  readonly ca?: string;
  readonly plaintext?: true;
}

/** The object that the call answers with, or how it was refused. */
type Call = (port: number, calling: Calling) => Promise<string>;

const REQUEST = { accountId: 'demo' };

const overGrpc: Call = (port, { shows, key, ca = authority.certificate, plaintext }) => {
  const buffer = (pem: string | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem));
  const channel =
    plaintext === undefined
      ? credentials.createSsl(buffer(ca), buffer(shows?.key), buffer(shows?.certificate))
      : credentials.createInsecure();
  const client = new Client(`127.0.0.1:${port}`, channel);
  const metadata = new Metadata();
  if (key !== undefined) metadata.set('authorization', `Bearer ${key}`);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      '/reelgate.media.v1.MediaService/StageMedia',
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => fromBinary(StageMediaResponseSchema, bytes).media?.object ?? '',
      Buffer.from(toBinary(StageMediaRequestSchema, create(StageMediaRequestSchema, REQUEST))),
      metadata,
      { deadline: Date.now() + 5000 },
      (error, object) => {
        client.close();
        resolve(error === null ? (object ?? '') : `${error.code} ${error.details}`);
      },
    );
  });
};

const overJson: Call = (port, { shows, key, ca = authority.certificate, plaintext }) =>
  new Promise((resolve) => {
    const tls: SecureContextOptions = {
      ca,
      ...(shows === undefined ? {} : { cert: shows.certificate, key: shows.key }),
    };
    const options = {
      host: '127.0.0.1',
      port,
      path: '/reelgate.media.v1.MediaService/StageMedia',
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
    } as const;
    const request = plaintext === undefined ? https.request({ ...options, ...tls }) : http.request(options);
    request
      .on('response', (response) => {
        let text = '';
        response.on('data', (part: Buffer) => (text += part.toString()));
        response.on('end', () => {
          const answer = JSON.parse(text) as { media?: { object: string }; code?: string; message?: string };
          resolve(answer.media?.object ?? `${answer.code} ${answer.message}`);
        });
      })
      .on('error', (error) => {
        resolve(`unreachable ${error.message}`);
      })
      .end(JSON.stringify(REQUEST));
  });

/** The serial number of the certificate that a new connection is shown. */
function shownBy(port: number): Promise<string> {
  const { certificate, key } = clients.reporting;
  const socket = connectTls({ host: '127.0.0.1', port, ca: authority.certificate, cert: certificate, key });
  return inTime(
    new Promise((resolve, reject) => {
      socket.on('error', reject).on('secureConnect', () => {
        resolve(socket.getPeerCertificate().raw.toString('base64'));
        socket.destroy();
      });
    }),
  );
}

const derOf = ({ certificate }: Issued): string => certificate.replaceAll(/-----[^-]+-----|\s/g, '');
const UNREACHABLE = /^(14 |unreachable )/;

describe.each([
  ['the gRPC port', startGrpcServer, overGrpc],
  ['the HTTP port', startConnectServer, overJson],
] as const)('%s', (_name, start, call) => {
  describe('that requires client certificates', () => {
    test('knows a caller by a name in its certificate, with the accounts of that caller', async () => {
      const { port } = await open(start, 'required');

      expect(await call(port, { shows: clients.reporting })).toBe('reporting for demo');
    });

    test('knows a caller by the key that it sends beside any valid certificate', async () => {
      const { port } = await open(start, 'required');

      expect(await call(port, { shows: clients.unknown, key: KEY })).toBe('program for demo');
      expect(await call(port, { shows: clients.reporting, key: 'wrong' })).toMatch(/^(16|unauthenticated) send the/);
    });

    test('names the certificate that belongs to no caller', async () => {
      const { port } = await open(start, 'required');

      expect(await call(port, { shows: clients.unknown })).toMatch(
        /^(16|unauthenticated) the client certificate \(nobody\.lab\) belongs to no internal caller/,
      );
    });

    test.each<[string, () => Calling]>([
      ['that shows none', () => ({ key: KEY })],
      ['whose certificate has expired', () => ({ shows: clients.expired, key: KEY })],
      ['whose certificate another authority has signed', () => ({ shows: clients.forged, key: KEY })],
      ['that speaks plaintext', () => ({ plaintext: true, key: KEY })],
      ['that does not trust its certificate', () => ({ shows: clients.reporting, ca: stranger.certificate })],
    ])('cannot be called by a client %s', async (_what, calling) => {
      const { port } = await open(start, 'required');

      expect(await call(port, calling())).toMatch(UNREACHABLE);
    });
  });

  describe('for which client certificates are optional', () => {
    test.each<[string, () => Calling, RegExp]>([
      ['by a key without a certificate', () => ({ key: KEY }), /^program for demo$/],
      ['by a certificate without a key', () => ({ shows: clients.reporting }), /^reporting for demo$/],
      ['by neither', () => ({}), /^(16|unauthenticated) send the internal caller key/],
      ['by an expired certificate', () => ({ shows: clients.expired }), /^(16|unauthenticated) send the internal/],
      ['by a forged certificate', () => ({ shows: clients.forged }), /^(16|unauthenticated) send the internal/],
      ['in plaintext', () => ({ plaintext: true, key: KEY }), UNREACHABLE],
    ])('a caller is known or refused %s', async (_by, calling, expected) => {
      const { port } = await open(start, 'optional');

      expect(await call(port, calling())).toMatch(expected);
    });
  });

  test('that asks for no client certificate knows its callers by their keys alone', async () => {
    const { port } = await open(start, 'none');

    expect(await call(port, { key: KEY, shows: clients.forged })).toBe('program for demo');
    expect(await call(port, { shows: clients.reporting })).toMatch(/^(16|unauthenticated) send the/);
  });

  test('shows new connections the new certificate as soon as its files change', async () => {
    const { port, material } = await open(start, 'required');
    expect(await shownBy(port)).toBe(derOf(own));
    await replaced('server', material, renewed);

    expect(await shownBy(port)).toBe(derOf(renewed));
  });

  test('refuses a client from the moment on that its authority is no longer named', async () => {
    const { port, material } = await open(start, 'required');
    await replaced('server', material, own, stranger.certificate);

    expect(await call(port, { shows: clients.reporting })).toMatch(UNREACHABLE);
    expect(await call(port, { shows: clients.forged, key: KEY })).toBe('program for demo');
  });
});

/** A client of our own services. */
function connected(port: number, tls: CurrentTls): ClientOf<typeof MediaService> {
  const connection = connectGrpc(`127.0.0.1:${port}`, new Secret(KEY), tls);
  ends.push(() => {
    connection.close();
  });
  return connection.client(MediaService);
}

/** Writes new files, and waits until they are in use. */
async function replaced(name: string, tls: WatchedTls, issued: Issued, ca = authority.certificate): Promise<void> {
  const changed = new Promise<unknown>((resolve) => {
    tls.onChange(({ certificate, ca: now }) => {
      if (certificate === issued.certificate && now === ca) resolve(undefined);
    });
  });
  writeTls(path.join(folder, name), issued, ca);
  tls.reread();
  await inTime(changed);
}

describe('a team that looks around over TLS', () => {
  const curl = async (port: number, shows: Issued, ...args: readonly string[]): Promise<string> => {
    const { certificate, key, ca } = writeTls(path.join(folder, 'curl'), shows, authority.certificate);
    const tls = ['--cacert', ca, '--cert', certificate, '--key', key];
    const all = ['curl', '--protocol', 'grpc', ...tls, ...args];
    const at = all.map((one) => one.replace('HOST', `https://127.0.0.1:${port}`));
    return (await promisify(execFile)(BUF, at, { timeout: 60_000 })).stdout.trim();
  };

  test('finds the services and their health', async () => {
    const { port } = await open(startGrpcServer, 'required');

    expect((await curl(port, clients.reporting, '--list-services', 'HOST')).split('\n')).toEqual([
      'grpc.health.v1.Health',
      'reelgate.media.v1.MediaService',
    ]);
    expect(await curl(port, clients.unknown, '-d', '{}', 'HOST/grpc.health.v1.Health/Check')).toContain('SERVING');
  });
});

describe('the client of our own services', () => {
  test('calls over mutual TLS, and loses no call while both sides renew their certificates', async () => {
    const { port, material } = await open(startGrpcServer, 'required');
    const tls = watched('client', clients.unknown);
    const media = connected(port, tls);
    let isOver = false;
    const calls: Promise<unknown>[] = [];
    const calling = (async () => {
      while (!isOver) {
        const one = media.stageMedia(REQUEST);
        calls.push(one);
        await one;
      }
    })();

    await replaced('server', material, renewed);
    await replaced('client', tls, clients.reporting);
    isOver = true;
    await calling;

    expect((await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(calls.length).toBeGreaterThan(0);
  });

  test('shows a new certificate on the connections that it opens from then on', async () => {
    const { port } = await open(startGrpcServer, 'required', { ca: stranger.certificate });
    const tls = watched('client', clients.reporting);
    const media = connected(port, tls);
    await expect(media.stageMedia(REQUEST)).rejects.toMatchObject({ reason: 'service_unavailable' });

    await replaced('client', tls, clients.forged);
    const answers = async (): Promise<boolean> =>
      media.stageMedia(REQUEST, { timeoutMs: 1000 }).then(
        () => true,
        () => false,
      );

    await until(answers);
  });

  test('trusts only the authority that it is given, and only for the host that it calls', async () => {
    const elsewhere = await open(startGrpcServer, 'none', {
      issued: authority.issue({ alternatives: ['DNS:elsewhere.lab'] }),
    });
    const media = connected(elsewhere.port, watched('client', clients.unknown));

    await expect(media.stageMedia(REQUEST)).rejects.toMatchObject({ reason: 'service_unavailable' });
  });
});

test('a replica that is called at its address shows the certificate of its name', async () => {
  const { port } = await open(startGrpcServer, 'none', {
    issued: authority.issue({ name: 'tasks.example', alternatives: ['DNS:tasks.example'] }),
  });
  const callAt = (tlsName: string | undefined): Promise<string> => {
    const tls = watched('calls', own);
    const keepalive = { everyMs: 20_000, answeredWithinMs: 5000 };
    const settings = { resolveEveryMs: 1000, reconnectMaxMs: 2000, keepalive, tlsName };
    const connection = connectGrpc(`127.0.0.1:${String(port)}`, new Secret(KEY), tls, settings);
    ends.push(() => connection.close());
    return connection
      .client(MediaService)
      .stageMedia(REQUEST, { timeoutMs: 5000 })
      .then(
        ({ media }) => media?.object ?? '',
        (error: unknown) => (error as Error).message,
      );
  };

  expect(await callAt('tasks.example')).toBe('program for demo');
  expect(await callAt('billing.example')).toContain('cannot be reached');
  expect(await callAt(undefined)).toContain('cannot be reached');
});

import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until, untilAfter } from '@reelgate/platform/testing/until';
import { fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import { redirects, serves } from '../../../testing/origin.ts';
import type { Behaviour } from '../../../testing/origin.ts';
import { answer, floods, startRawOrigin } from '../../../testing/raw-origin.ts';
import type { Raw, RawOrigin } from '../../../testing/raw-origin.ts';
import { IDLE_MS } from '../requests/kept-connections.ts';
import { ACCOUNT_SENDS_MAX } from './send-permits.ts';
import { SendWebhookRequestSchema } from '@reelgate/proto/media/v1/media_service';
import type { SendWebhookRequest } from '@reelgate/proto/media/v1/media_service';
import { newWebhookSender } from './webhook-sender.ts';
import type { SendWebhook, SentWebhook, WebhookSenderOptions } from './webhook-sender.ts';

const pem = (name: string): Buffer =>
  readFileSync(new URL(`../../../testing/fixtures/tls/${name}.pem`, import.meta.url));
const RIGHT = answer(['200 OK', 'content-length: 2'], 'ok');
const TIMEOUT_MS = 15_000;
const world = await fetchWorldOfTests();
const { origin, secure, forbidden, raw, dns } = world;
tls.setDefaultCACertificates([...tls.getCACertificates('default'), pem('authority').toString()]);

let [clock, stopping] = [fakeClock(), new AbortController()];
let metrics: Metrics;
let send: SendWebhook;
const servers: RawOrigin[] = [];

const senderOf = (over: Partial<WebhookSenderOptions> = {}): SendWebhook =>
  newWebhookSender(
    { clock, log: silentLog, metrics, stopping: stopping.signal },
    {
      allow: [...[origin, secure, raw, ...servers].map(({ port }) => ({ host: '127.0.0.1', port }))],
      dnsServers: [dns.address],
      dnsMs: 1000,
      headerBytesMax: 16 * 1024,
      isOwn: () => false,
      ...over,
    },
  );
const orderOf = (url: string, over: MessageInitShape<typeof SendWebhookRequestSchema> = {}): SendWebhookRequest =>
  create(SendWebhookRequestSchema, {
    accountId: 'one',
    url,
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'webhook-id', value: 'evt_1' },
    ],
    body: Buffer.from('{"a":1}'),
    ...over,
  });
const sent = (url: string, over: MessageInitShape<typeof SendWebhookRequestSchema> = {}): Promise<SentWebhook> =>
  send(orderOf(url, over));
const named = (url: string, name: string): string => url.replace('127.0.0.1', name);
const started = async (options: Parameters<typeof startRawOrigin>[0]): Promise<RawOrigin> => {
  const server = await startRawOrigin(options);
  servers.push(server);
  send = senderOf();
  return server;
};

beforeEach(() => {
  [clock, stopping, metrics] = [fakeClock(), new AbortController(), newMetrics(false)];
  send = senderOf();
});
afterEach(async () => {
  stopping.abort();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Advances the clock until the request has ended. Returns its outcome and the time that passed. */
async function outlasted(sending: Promise<SentWebhook>, reached: () => boolean): Promise<SentWebhook> {
  let isOver = false;
  const outcome = sending.finally(() => {
    isOver = true;
  });
  await until(() => isOver || reached());
  for (let steps = 0; steps < 2000 && !isOver; steps += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(100);
  }
  return outcome;
}
const connected = (server = raw): (() => boolean) => {
  const before = server.connections();
  return () => server.connections() > before;
};

/** Sends the beginning, then a few bytes at a time while the client is connected. */
const drips =
  (beginning: string, drop: string): Raw =>
  (socket: Socket) => {
    socket.write(beginning);
    const timer = setInterval(() => {
      socket.write(drop);
    }, 2);
    socket.on('close', () => {
      clearInterval(timer);
    });
  };

describe('a request', () => {
  test('is one POST with the given headers and body, those of this service, and nothing else', async () => {
    let body = '';
    let request: IncomingMessage | undefined;
    const url = secure.url((received, response) => {
      request = received;
      received.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      received.on('end', () => response.writeHead(200).end('thanks'));
    });

    expect(await sent(url)).toMatchObject({ status: 200, fault: undefined, answerHead: Buffer.from('thanks') });
    expect([request?.method, body]).toEqual(['POST', '{"a":1}']);
    expect(request?.headers).toEqual({
      'accept-encoding': 'identity',
      connection: 'keep-alive',
      'content-length': '7',
      'content-type': 'application/json',
      host: secure.host,
      'user-agent': 'reelgate-webhooks/1',
      'webhook-id': 'evt_1',
    });
  });

  test('has no cookie, whatever the receiver sets', async () => {
    const cookies: unknown[] = [];
    const url = secure.url((received, response) => {
      cookies.push(received.headers.cookie);
      response.writeHead(200, { 'set-cookie': 'a=b' }).end();
    });
    await sent(url);
    await sent(url);

    expect(cookies).toEqual([undefined, undefined]);
  });

  test('can have a large body, and none', async () => {
    const lengths: number[] = [];
    const url = origin.url((received, response) => {
      let bytes = 0;
      received.on('data', (piece: Buffer) => (bytes += piece.length));
      received.on('end', () => {
        lengths.push(bytes);
        response.end();
      });
    });
    await sent(url, { body: Buffer.alloc(1024 * 1024) });
    await sent(url, { body: Buffer.alloc(0) });

    expect(lengths).toEqual([1024 * 1024, 0]);
  });
});

describe('an answer', () => {
  test.each([200, 201, 202, 204, 299, 400, 401, 404, 410, 429, 500, 503])('%i is its status', async (status) => {
    const url = origin.url((_request, response) => response.writeHead(status).end());

    expect(await sent(url)).toMatchObject({ status, fault: undefined, retryAfterMs: 0 });
  });

  test.each([
    ['seconds', '120', 120_000],
    ['a date', 'Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['a week', '604800', 86_400_000],
    ['nonsense', 'soon', 0],
  ])('can ask to wait: %s', async (_what, value, expected) => {
    const headers = { 'retry-after': value, date: 'Thu, 01 Jan 2026 00:00:00 GMT' };
    const url = origin.url((_request, response) => response.writeHead(429, headers).end());

    expect(await sent(url)).toMatchObject({ status: 429, retryAfterMs: expected });
  });

  test.each([301, 302, 303, 304, 307, 308])('%i is no delivery, and leads nowhere', async (status) => {
    const hits = forbidden.hits.length;
    for (const location of ['http://169.254.169.254/', `http://${forbidden.host}/`, '?', 'https://media.example/']) {
      expect(await sent(origin.url(redirects(location, status)))).toMatchObject({ status, fault: 'redirect' });
    }

    expect(forbidden.hits).toHaveLength(hits);
  });

  test('keeps its first 2 KiB, in one piece or byte for byte', async () => {
    const body = Buffer.from('0123456789'.repeat(300));
    const slowly: Behaviour = (_request, response) => {
      for (const byte of body) response.write(Buffer.of(byte));
      response.end();
    };

    for (const behaviour of [serves(body), slowly])
      expect(Buffer.from((await sent(origin.url(behaviour))).answerHead)).toEqual(body.subarray(0, 2048));
  });

  test.each([200, 500])('%i with a body over 64 KiB is its status, and the rest is not read', async (status) => {
    const server = await started({
      always: floods(answer([`${status} X`, 'content-length: 9999999999']), 'x'),
    });
    const outcome = await sent(server.url(''));

    expect(outcome).toMatchObject({ status, fault: undefined });
    expect(outcome.answerHead).toHaveLength(2048);
  });

  test('is not decoded: a compressed bomb is its few bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const { status, answerHead } = await sent(origin.url(serves(bomb, { 'content-encoding': 'gzip' })));

    expect(status).toBe(200);
    expect(Buffer.from(answerHead)).toEqual(bomb.subarray(0, 2048));
  });

  test.each<[string, Raw]>([
    [
      'a reset',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab', () => socket.resetAndDestroy()),
    ],
    ['an early end', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab')],
    ['an end that is its length', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nab')],
  ])('whose body ends by %s is its status', async (_what, answered) => {
    expect(await sent(raw.url(answered))).toMatchObject({ status: 200, fault: undefined });
  });

  test('can come after hints', async () => {
    const hints = answer(['103 Early Hints', 'link: </a>']).repeat(3);

    expect(await sent(raw.url(hints + RIGHT))).toMatchObject({ status: 200, fault: undefined });
  });

  test.each<[string, Raw]>([
    ['a header of 20 KiB', answer(['200 OK', `a: ${'b'.repeat(20_000)}`])],
    ['thousands of headers', answer(['200 OK', ...Array<string>(20_000).fill('a: b')])],
    ['a header without an end', floods('HTTP/1.1 200 OK\r\na: ', 'b')],
    ['headers without an end', floods('HTTP/1.1 200 OK\r\n', 'a: b\r\n')],
    ['hints without an end', floods('', answer(['103 Early Hints', 'a: b']))],
  ])('with %s is too large', async (_what, answered) => {
    expect(await sent(raw.url(answered))).toMatchObject({ status: 0, fault: 'too_large' });
  });

  test('whose frames hide endless bytes is given up', async () => {
    const server = await started({
      always: floods(answer(['200 OK', 'transfer-encoding: chunked'], '1;a='), 'b'),
    });
    let isOver = false;
    const outcome = sent(server.url('')).finally(() => {
      isOver = true;
    });
    // the clock moves slowly, so that the bytes come before its end on any machine
    await untilAfter(clock, () => isOver);

    expect(await outcome).toMatchObject({ status: 200, fault: 'too_large' });
  });
});

describe('a receiver is given up after the time of the exchange', () => {
  test.each<[string, number, Raw]>([
    ['that says nothing', 0, () => undefined],
    ['whose status line drips', 0, drips('HTTP/1.1 200 ', 'O')],
    ['whose headers drip', 0, drips('HTTP/1.1 200 OK\r\n', 'a: b\r\n')],
    ['whose body drips', 200, drips('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n', 'x')],
    ['whose chunks drip', 200, drips('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n')],
    ['that stops within its body', 200, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab')],
  ])('%s', async (_what, status, behaviour) => {
    const outcome = await outlasted(sent(raw.url(behaviour)), connected());

    expect(outcome).toMatchObject({ status, fault: 'timeout' });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS);
    expect(outcome.durationMs).toBeLessThan(TIMEOUT_MS + 200);
  });

  test('that never ends its handshake', async () => {
    const url = raw.url('').replace('http:', 'https:');
    const silent = await startRawOrigin({ always: () => undefined });
    servers.push(silent);
    send = senderOf();
    const outcome = await outlasted(sent(url.replace(String(raw.port), String(silent.port))), connected(silent));

    expect(outcome).toMatchObject({ status: 0, fault: 'timeout' });
  });

  test('that does not read a large body', async () => {
    const deaf = await started({ always: (socket) => socket.pause() });
    const outcome = await outlasted(sent(deaf.url(''), { body: Buffer.alloc(1024 * 1024) }), connected(deaf));

    expect(outcome).toMatchObject({ status: 0, fault: 'timeout' });
  });

  test('whose name is not answered', async () => {
    dns.answer('silent.example', 'silence');
    send = senderOf({ dnsMs: 60_000 });
    const before = dns.asked.length;
    const outcome = await outlasted(
      sent(named(secure.url(serves(Buffer.of())), 'silent.example')),
      () => dns.asked.length > before,
    );

    expect(outcome).toMatchObject({ status: 0, fault: 'timeout' });
  });

  test('that the order names', async () => {
    const outcome = await outlasted(
      sent(
        raw.url(() => undefined),
        { timeoutMs: 700n },
      ),
      connected(),
    );

    expect(outcome).toMatchObject({ fault: 'timeout' });
    expect(outcome.durationMs).toBeLessThan(900);
  });
});

describe('a receiver is refused by its URL', () => {
  test.each([
    'http://169.254.169.254/',
    'https://169.254.169.254/',
    'https://10.0.0.1/',
    'https://localhost/',
    'http://hooks.example/',
    'not a URL',
  ])('%s', async (url) => {
    const asked = dns.asked.length;

    expect(await sent(url)).toMatchObject({ status: 0, fault: 'address_refused' });
    expect(dns.asked).toHaveLength(asked);
  });

  test('that leads to this service, unless it is an exception', async () => {
    const url = origin.url(serves(Buffer.from('own')));
    send = senderOf({ isOwn: () => true });
    expect(await sent(url)).toMatchObject({ status: 200 });
    expect(await sent(named(secure.url(serves(Buffer.of())), 'media.example'))).toMatchObject({
      status: 0,
      fault: 'address_refused',
    });
  });
});

describe('a receiver is not reached, and nothing tells why,', () => {
  const at = (name: string): string => named(secure.url(serves(Buffer.of())), name);

  test.each<[string, Parameters<typeof dns.answer>[1]]>([
    ['a private address', ['10.0.0.1']],
    ['loopback', ['127.0.0.2']],
    ['the address of metadata', ['169.254.169.254']],
    ['a permitted address and a private one', ['127.0.0.1', '10.0.0.1']],
    ['a private address of IPv6', { four: { code: 3 }, six: ['fd00:0:0:0:0:0:0:1'] }],
    ['no address', []],
    ['a failure', { code: 2 }],
  ])('if its name has %s', async (_what, answered) => {
    dns.answer('odd.example', answered);

    expect(await sent(at('odd.example'))).toMatchObject({ status: 0, fault: 'not_reached', retryAfterMs: 0 });
  });

  test('if nothing listens', async () => {
    const server = await startRawOrigin();
    servers.push(server);
    send = senderOf();
    await server.close();
    servers.pop();

    expect(await sent(server.url(''))).toMatchObject({ status: 0, fault: 'not_reached' });
  });

  test.each<[string, Raw]>([
    ['resets the connection', (socket) => socket.resetAndDestroy()],
    ['closes the connection', (socket) => socket.end()],
    ['speaks another protocol', 'SSH-2.0-x\r\n'],
    ['answers 100 alone', answer(['100 Continue'])],
    ['changes the protocol', answer(['101 Switching Protocols', 'upgrade: x', 'connection: upgrade'])],
  ])('if it %s', async (_what, behaviour) => {
    expect(await sent(raw.url(behaviour))).toMatchObject({ status: 0, fault: 'not_reached' });
  });

  test('if the next answer of its name is private', async () => {
    const server = await started({ always: RIGHT, tls: { key: pem('key'), cert: pem('wildcard') } });
    dns.answer('rebind.media.example', ['127.0.0.1'], ['10.0.0.1']);
    const url = named(server.url(''), 'rebind.media.example');

    expect([await sent(url), await sent(url)]).toMatchObject([
      { status: 200, fault: undefined },
      { status: 0, fault: 'not_reached' },
    ]);
    expect(server.connections()).toBe(1);
  });
});

describe('a certificate', () => {
  const at = async (certificate: string, name: string): Promise<[SentWebhook, number]> => {
    const server = await started({ always: RIGHT, tls: { key: pem('key'), cert: pem(certificate) } });
    return [await sent(named(server.url(''), name)), server.received()];
  };
  beforeEach(() => {
    for (const name of ['media.example', 'other.example']) dns.answer(name, ['127.0.0.1']);
  });

  test.each([
    ['good', 'media.example'],
    ['good', '127.0.0.1'],
  ])('%s is accepted for %s', async (certificate, name) => {
    expect((await at(certificate, name))[0]).toMatchObject({ status: 200, fault: undefined });
  });

  test.each([
    ['self-signed', 'media.example'],
    ['expired', 'media.example'],
    ['other-name', 'media.example'],
    ['of-a-stranger', 'media.example'],
    ['good', 'other.example'],
    ['no-name', '127.0.0.1'],
  ])('%s is refused for %s, before a byte is sent', async (certificate, name) => {
    const [outcome, received] = await at(certificate, name);

    expect(outcome).toMatchObject({ status: 0, fault: 'tls' });
    expect(received).toBe(0);
  });

  test('is required: a server that speaks no TLS is refused', async () => {
    expect(await sent(origin.url(serves(Buffer.of())).replace('http:', 'https:'))).toMatchObject({ fault: 'tls' });
  });
});

describe('an exception that is a name', () => {
  test('allows its private addresses, over http too', async () => {
    dns.answer('receiver.internal', ['127.0.0.1']);
    send = senderOf({ allow: [{ host: 'receiver.internal', port: forbidden.port }] });
    const url = forbidden.url(serves(Buffer.from('ok')));

    expect(await sent(named(url, 'receiver.internal'))).toMatchObject({ status: 200, fault: undefined });
    expect(await sent(url)).toMatchObject({ fault: 'address_refused' });
  });
});

describe('the connections of receivers', () => {
  let used: Socket[] = [];
  const noting: Behaviour = (request, response) => {
    if (!used.includes(request.socket)) used.push(request.socket);
    request.resume().on('end', () => response.end('ok'));
  };
  beforeEach(() => {
    used = [];
  });

  test('are used again, one request after another', async () => {
    for (let time = 0; time < 5; time += 1) await sent(secure.url(noting));

    expect(used).toHaveLength(1);
  });

  test.each([410, 429, 500])('are used again after %i', async (status) => {
    const url = secure.url((request, response) => {
      response.statusCode = status;
      noting(request, response);
    });
    for (let time = 0; time < 3; time += 1) await sent(url);

    expect(used).toHaveLength(1);
  });

  test('are not shared by accounts', async () => {
    for (const accountId of ['one', 'two', 'one', 'two']) await sent(secure.url(noting), { accountId });

    expect(used).toHaveLength(2);
  });

  test('end after their idle time, and when the service stops', async () => {
    await sent(secure.url(noting));
    await clock.advance(IDLE_MS);
    await until(() => used[0]?.destroyed === true);
    await sent(secure.url(noting));
    stopping.abort();
    await until(() => used[1]?.destroyed === true);
  });

  test('that the receiver closes at the next request are replaced, and the request is made again', async () => {
    const server = await started({
      always: (socket) => {
        socket.write(RIGHT);
        socket.once('data', () => socket.destroy());
      },
    });
    const outcomes = [];
    for (let time = 0; time < 3; time += 1) outcomes.push(await sent(server.url('')));

    expect(outcomes.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(server.connections()).toBe(3);
  });

  test('carry no answer in advance', async () => {
    const server = await started({ always: RIGHT + answer(['500 X', 'content-length: 0']) });

    expect([await sent(server.url('')), await sent(server.url(''))]).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(server.connections()).toBe(2);
  });
});

describe('many requests at one time', () => {
  const hanging = raw.url(() => undefined);

  test('are as many as the bound of an account; the next is busy, and another account is not', async () => {
    const held = Array.from({ length: ACCOUNT_SENDS_MAX }, () => sent(hanging));

    expect(await sent(hanging)).toMatchObject({ status: 0, fault: 'busy', durationMs: 0 });
    expect(await sent(origin.url(serves(Buffer.of())), { accountId: 'two' })).toMatchObject({ status: 200 });
    stopping.abort();
    expect((await Promise.all(held)).every(({ fault }) => fault === 'busy')).toBe(true);
  });

  test('to a receiver that hangs delay no other', async () => {
    const held = Array.from({ length: 20 }, () => sent(hanging));
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => sent(origin.url(serves(Buffer.of())))));

    expect(outcomes.every(({ status, durationMs }) => status === 200 && durationMs === 0)).toBe(true);
    stopping.abort();
    await Promise.all(held);
  });

  test('leave no permit behind', async () => {
    for (let round = 0; round < 3; round += 1) {
      const outcomes = await Promise.all(
        Array.from({ length: ACCOUNT_SENDS_MAX }, (_, at) =>
          sent(at % 2 === 0 ? origin.url(serves(Buffer.of())) : raw.url((socket) => socket.destroy())),
        ),
      );
      expect(outcomes.some(({ fault }) => fault === 'busy')).toBe(false);
    }
  });

  test('end at once when the service stops, and none begins after that', async () => {
    const reached = connected();
    const sending = sent(hanging);
    await until(reached);
    stopping.abort();

    expect(await sending).toMatchObject({ fault: 'busy' });
    expect(await sent(hanging)).toMatchObject({ fault: 'busy' });
  });
});

test('every request is counted by its outcome', async () => {
  await sent(origin.url(serves(Buffer.of())));
  await sent(origin.url((_request, response) => response.writeHead(500).end()));
  await sent('https://10.0.0.1/');
  const text = await metrics.text();

  for (const outcome of ['ok', 'answered', 'address_refused'])
    expect(text).toMatch(new RegExp(`reelgate_media_webhooks_total\\{outcome="${outcome}"\\} 1`));
  expect(text).toMatch(/reelgate_media_webhooks_total\{outcome="timeout"\} 0/);
});

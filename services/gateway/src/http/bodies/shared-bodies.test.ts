import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Secret, deriveSecret } from '@reelgate/platform/secret';
import { signName } from '@reelgate/platform/signatures';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { OPERATOR_KEYS } from '../../../testing/gateway-under-test.ts';
import { holdConnection, requestHead } from '../../../testing/held-connection.ts';
import type { HeldConnection, RequestHead } from '../../../testing/held-connection.ts';
import { call } from '../../../testing/http-call.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';
import { signIn } from '../../../testing/signed-in.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const BODY_MAX = 2 * MIB;
const MEMORY = 8 * MIB;
/** Almost a whole body of the largest size. */
const ALMOST = 1.5 * MIB;
const IDLE_S = 15;
const OTHER = 'rg_token-of-other';
const ATTACKERS = 8;
const attacker = (index: number): string => `rg_token-of-attacker-${index % ATTACKERS}`;
const FORM = 'multipart/form-data; boundary=b';
const SESSION = '/console/api/session';
const OWN = { origin: 'https://gateway.example', 'x-reelgate-console': '1' };
const compat = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5', size: '1280x720' };

let console: OperatorUnderTest;
let url: string;
let open: HeldConnection[] = [];
beforeAll(async () => {
  console = await startOperatorUnderTest({
    limits: { body: '2MiB' },
    bodies: { memory: '8MiB', idle: `${IDLE_S}s` },
    batches: true,
    trustedProxies: ['127.0.0.1'],
    channels: [aRelayChannel()],
  });
  const { billing, files } = console.gateway;
  billing.tokens.set(OTHER, { accountId: 'other' });
  for (let index = 0; index < ATTACKERS; index += 1)
    billing.tokens.set(attacker(index), { accountId: `attacker-${index}` });
  files.bytesMax = 64 * MIB;
  url = console.gateway.url;
});
afterEach(() => {
  for (const connection of open) connection.close();
  open = [];
});
afterAll(() => console.stop());

interface Held extends RequestHead {
  /** What is sent of the body. */
  readonly sent?: readonly (string | Buffer)[];
  readonly at?: string;
}

const hold = async (count: number, request: (index: number) => Held): Promise<void> => {
  const requests = Array.from({ length: count }, (_, index) => request(index));
  open.push(
    ...(await Promise.all(
      requests.map(({ sent = [], at = url, ...head }) => holdConnection(at, [requestHead(head), ...sent])),
    )),
  );
};
const inChunks = (count: number, bytes: number): Buffer =>
  Buffer.from(`${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`.repeat(count));
const from = (address: string) => ({ 'x-forwarded-for': address });

/** The attacks. Each would use up the whole budget if it could. */
const ATTACKS: readonly (readonly [what: string, attack: () => Promise<void>])[] = [
  [
    'six creates that declare the largest body and send nothing',
    () => hold(6, () => ({ path: '/v1/videos', token: attacker(0), bytes: BODY_MAX })),
  ],
  [
    'creates of many accounts that declare the largest body and send nothing',
    () => hold(64, (index) => ({ path: '/v1/videos', token: attacker(index), bytes: BODY_MAX })),
  ],
  [
    'creates that lack their last byte',
    () => hold(6, () => ({ path: '/v1/videos', token: attacker(0), bytes: ALMOST, sent: [Buffer.alloc(ALMOST - 1)] })),
  ],
  [
    'creates of many accounts that lack their last byte',
    () =>
      hold(ATTACKERS, (index) => ({
        path: '/v1/videos',
        token: attacker(index),
        bytes: ALMOST,
        sent: [Buffer.alloc(ALMOST - 1)],
      })),
  ],
  [
    'creates in chunks, without a length and without an end',
    () => hold(ATTACKERS, (index) => ({ path: '/v1/videos', token: attacker(index), sent: [inChunks(2 * KIB, KIB)] })),
  ],
  [
    'creates that come byte by byte',
    () => hold(4, (index) => ({ path: '/v1/videos', token: attacker(index), sent: [inChunks(16 * KIB, 1)] })),
  ],
  [
    'forms that lack their end',
    () =>
      hold(ATTACKERS, (index) => ({
        path: '/v1/videos',
        token: attacker(index),
        type: FORM,
        bytes: ALMOST,
        sent: [
          '--b\r\nContent-Disposition: form-data; name="input_reference"; filename="a.png"\r\n\r\n',
          Buffer.alloc(MIB),
        ],
      })),
  ],
  [
    'uploads of files that send nothing',
    () => hold(128, (index) => ({ path: '/v1/files', token: attacker(index), type: FORM, bytes: 64 * MIB })),
  ],
  [
    'relayed calls that lack their last byte',
    () =>
      hold(ATTACKERS, (index) => ({
        path: '/v1/chat/completions',
        token: attacker(index),
        bytes: ALMOST,
        sent: [Buffer.alloc(ALMOST - 1)],
      })),
  ],
  [
    'sign-ins of one address that lack their last byte',
    () =>
      hold(200, () => ({
        path: SESSION,
        bytes: 64 * KIB,
        sent: [Buffer.alloc(64 * KIB - 1)],
        headers: { ...OWN, ...from('192.0.2.1') },
      })),
  ],
  [
    'sign-ins of one network of IPv6 that lack their last byte',
    () =>
      hold(200, (index) => ({
        path: SESSION,
        bytes: 64 * KIB,
        sent: [Buffer.alloc(64 * KIB - 1)],
        headers: { ...OWN, ...from(`2001:db8::${index.toString(16)}`) },
      })),
  ],
  [
    'sign-ins of many networks that lack their last byte',
    () =>
      hold(200, (index) => ({
        path: SESSION,
        bytes: 64 * KIB,
        sent: [Buffer.alloc(64 * KIB - 1)],
        headers: { ...OWN, ...from(`2001:db8:${index.toString(16)}::1`) },
      })),
  ],
  [
    'sign-ins at the console of the operators that lack their last byte',
    () =>
      hold(200, () => ({
        at: console.url,
        path: SESSION,
        bytes: 64 * KIB,
        sent: [Buffer.alloc(64 * KIB - 1)],
        headers: { ...OWN, origin: console.url },
      })),
  ],
  [
    'creates that are refused by their headers while they are sent',
    () =>
      hold(64, (index) => ({
        path: '/v1/videos',
        token: index % 2 === 0 ? 'unknown' : attacker(index),
        type: 'text/plain',
        bytes: BODY_MAX,
        sent: [Buffer.alloc(MIB)],
        headers: from(`192.0.2.${index}`),
      })),
  ],
];

/** What others do meanwhile. */
const OTHERS: Readonly<Record<string, () => Promise<number>>> = {
  create: async () => (await call(url, 'POST', '/v1/videos', { token: OTHER, body: compat })).status,
  'long create': async () => {
    const image = `data:image/png;base64,${'A'.repeat(512 * KIB)}`;
    const body = { ...compat, input_reference: { image_url: image } };
    return (await call(url, 'POST', '/v1/videos', { token: OTHER, body })).status;
  },
  'message of an agent': async () =>
    (await call(url, 'POST', '/mcp', { token: OTHER, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status,
  'sign-in of a client': async () => ((await signIn(console.gateway, OTHER)).headers['cookie'] === '' ? 0 : 200),
  'sign-in of an operator': async () => {
    const headers = { ...OWN, origin: console.url };
    return (await call(console.url, 'POST', SESSION, { token: null, headers, body: { key: OPERATOR_KEYS.viewer } }))
      .status;
  },
};

const readBytes = async (state: 'used' | 'limit'): Promise<number> => {
  const { text } = await call(url, 'GET', '/metrics', { token: null });
  return Number(new RegExp(`reelgate_gateway_body_bytes\\{state="${state}"\\} (\\d+)`).exec(text)?.[1]);
};
/** Resolves when the gateway has read what was sent. */
const settle = async (): Promise<void> => {
  let last = -1;
  for (let same = 0; same < 5; same += 1) {
    const used = await readBytes('used');
    if (used !== last) same = 0;
    last = used;
  }
};
const passSeconds = async (count: number): Promise<void> => {
  for (let second = 0; second < count; second += 1) await console.gateway.clock.advance(1000);
};

describe('the bodies of one caller leave room for those of others', () => {
  test.each(ATTACKS)('%s', async (_what, attack) => {
    await attack();
    await settle();
    await passSeconds(3);

    for (let round = 0; round < 2; round += 1)
      for (const [name, act] of Object.entries(OTHERS)) expect([name, await act()]).toEqual([name, 200]);
  });
});

test('what is held has its bound, and is free again when the connections end', async () => {
  for (const [what, attack] of ATTACKS) if (/many/.test(what)) await attack();
  await settle();

  expect(await readBytes('limit')).toBe(MEMORY);
  expect(await readBytes('used')).toBeLessThanOrEqual(MEMORY);
  for (const connection of open) connection.close();
  while ((await readBytes('used')) > 0) await new Promise((resolve) => setImmediate(resolve));
});

const CALLBACK = `/callbacks/${signName(deriveSecret(new Secret('a key'), 'upstream-callbacks'), 'task_1.1')}`;
const FILE = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\nx';

/** Every kind of route that takes a body. */
const DOORS: readonly (readonly [what: string, request: () => Held])[] = [
  ['a create', () => ({ path: '/v1/videos', token: OTHER })],
  ['a form', () => ({ path: '/v1/videos', token: OTHER, type: FORM })],
  ['an order of the vendor', () => ({ path: '/v2/video_generation', token: OTHER })],
  ['an estimate', () => ({ path: '/v1/videos/estimate', token: OTHER })],
  ['a relayed call', () => ({ path: '/v1/chat/completions', token: OTHER })],
  ['an asynchronous call', () => ({ path: '/async/v1/chat/completions', token: OTHER })],
  ['a message of an agent', () => ({ path: '/mcp', token: OTHER })],
  ['a batch', () => ({ path: '/v1/batches', token: OTHER })],
  ['a webhook', () => ({ path: '/v1/webhook_endpoints', token: OTHER })],
  ['an upload', () => ({ path: '/v1/files', token: OTHER, type: FORM, sent: [FILE] })],
  ['a callback', () => ({ path: CALLBACK })],
  ['a sign-in of a client', () => ({ path: SESSION, headers: OWN })],
  ['a sign-in of an operator', () => ({ at: console.url, path: SESSION, headers: { ...OWN, origin: console.url } })],
];

describe('a body that does not arrive is refused, and its connection closed', () => {
  /** Lets seconds pass until the connection has its answer. */
  const answer = async (connection: HeldConnection, each: () => void): Promise<string> => {
    for (let second = 0; second < 4 * IDLE_S && !/^HTTP\/1\.1 \d/.test(connection.seen()); second += 1) {
      each();
      await console.gateway.clock.advance(1000);
    }
    return connection.seen();
  };

  test.each(DOORS)('%s that falls silent', async (_what, door) => {
    await hold(1, () => ({ bytes: 60_000, sent: ['{"'], ...door() }));
    const [connection] = open;

    expect(await answer(connection!, () => undefined)).toMatch(/^HTTP\/1\.1 408 /);
  });
  test.each(DOORS)('%s that drips', async (_what, door) => {
    await hold(1, () => ({ bytes: 60_000, sent: ['{"'], ...door() }));
    const [connection] = open;

    expect(await answer(connection!, () => connection!.send('x'))).toMatch(/^HTTP\/1\.1 408 /);
  });
  test('the rest of a refused body has its time too', async () => {
    await hold(1, () => ({ path: '/v1/videos', token: 'unknown', bytes: 60_000 }));
    const [connection] = open;
    const closed = connection!.closed();
    await answer(connection!, () => undefined);
    expect(connection!.seen()).toMatch(/^HTTP\/1\.1 401 /);

    await passSeconds(IDLE_S);

    await closed;
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../testing/fake-dns.ts';
import { LIMITS, fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import { redirects, serves } from '../../../testing/origin.ts';
import { answer, startRawOrigin } from '../../../testing/raw-origin.ts';
import type { RawOrigin } from '../../../testing/raw-origin.ts';
import { addressPolicy } from './address-policy.ts';
import { NOT_REACHED } from '../../domain/fetch-fault.ts';

const BYTES = Buffer.from('the very bytes');
const GOOD = '127.0.0.1';
/** A server on the permitted port whose address must not be dialled. */
const BAD = '127.0.0.2';
const RIGHT = answer(['200 OK', 'content-length: 14'], BYTES.toString());
const world = await fetchWorldOfTests();
let good: RawOrigin;
let bad: RawOrigin;
let names = 0;

beforeAll(async () => {
  good = await startRawOrigin();
  bad = await startRawOrigin({ address: BAD, port: good.port });
});
afterAll(async () => {
  await Promise.all([good.close(), bad.close()]);
});
afterEach(() => {
  expect(world.leftBehind()).toEqual([]);
  expect(bad.connections()).toBe(0);
});

const short = { ...LIMITS, stagesMs: { ...LIMITS.stagesMs, resolve: 300 } };
const policy = () => addressPolicy({ allow: [{ host: GOOD, port: good.port }], ports: [80, 443] });
/** A new name with these answers, one for each query. */
const named = (...answers: readonly Answer[]): string => {
  const name = `name-${(names += 1)}.example`;
  world.dns.answer(name, ...answers);
  return name;
};
const at = (name: string): string => good.url(RIGHT).replace(GOOD, name);
const over = () => ({ policy: policy() });

describe('a name is refused entirely', () => {
  test.each<[string, Answer]>([
    ['one bad address', [BAD]],
    ['a good address and a bad one', [GOOD, BAD]],
    ['a bad address and a good one', [BAD, GOOD]],
    ['a hundred public addresses and a bad one', [...Array.from({ length: 60 }, (_, at) => `8.8.8.${at}`), BAD]],
    [
      'two thousand addresses, the last one bad',
      [...Array.from({ length: 2000 }, (_, at) => `8.8.${at >> 8}.${at & 255}`), BAD],
    ],
    ['a good address, and a bad one of the other kind', { four: [GOOD], six: ['0:0:0:0:0:0:0:1'] }],
    ['a public address of the other kind, and a bad one', { four: [BAD], six: ['2600:0:0:0:0:0:0:1'] }],
    ['a bad address, and a failure of the other kind', { four: [BAD], six: { code: 2 } }],
    ...[
      '0.0.0.0',
      '10.0.0.1',
      '100.64.0.1',
      '127.0.0.1',
      '127.8.8.8',
      '168.63.129.16',
      '169.254.169.254',
      '172.16.0.1',
      '192.168.0.1',
      '198.18.0.1',
      '203.0.113.1',
      '224.0.0.1',
      '255.255.255.255',
    ].map((address): [string, Answer] => [`${address} on another port`, address === GOOD ? [GOOD, BAD] : [address]]),
    ...[
      '0:0:0:0:0:0:0:0',
      '0:0:0:0:0:0:0:1',
      '0:0:0:0:0:ffff:7f00:2',
      '0:0:0:0:0:ffff:7f00:1',
      '0:0:0:0:0:ffff:a9fe:a9fe',
      '0:0:0:0:0:0:7f00:1',
      '0:0:0:0:ffff:0:7f00:1',
      '64:ff9b:0:0:0:0:7f00:1',
      '64:ff9b:1:0:0:0:0:1',
      '100:0:0:0:0:0:0:1',
      '2001:0:4136:e378:8000:63bf:3fff:fdd2',
      '2001:db8:0:0:0:0:0:1',
      '2002:7f00:1:0:0:0:0:1',
      '2600:1f18:0:0:0:5efe:7f00:1',
      '3fff:0:0:0:0:0:0:1',
      '5f00:0:0:0:0:0:0:1',
      'fc00:0:0:0:0:0:0:1',
      'fd00:ec2:0:0:0:0:0:254',
      'fe80:0:0:0:0:0:0:1',
      'fec0:0:0:0:0:0:0:1',
      'ff02:0:0:0:0:0:0:1',
      '4000:0:0:0:0:0:0:1',
    ].map((address): [string, Answer] => [address, [address]]),
    ['a bad address behind one alias', { aliases: ['a.example'], addresses: [BAD] }],
    [
      'a bad address behind a chain of aliases',
      { aliases: ['a.example', 'b.example', 'c.example', 'd.example'], addresses: [BAD] },
    ],
    ['a bad address behind a name of this service', { aliases: ['localhost'], addresses: [BAD] }],
    ['a bad address among good ones behind an alias', { aliases: ['a.example'], addresses: [GOOD, BAD] }],
    ['a bad address with a long lifetime', { addresses: [BAD], ttl: 0x7fff_ffff }],
    ['a bad address with no lifetime', { addresses: [BAD], ttl: 0 }],
  ])('when its answer has %s', async (_what, answered) => {
    const name = named(answered);

    for (const url of [at(name), at(name).replace('http:', 'https:'), good.url(RIGHT).replace(GOOD, `${name}.`)])
      expect([url, await world.faultOf(url, over())]).toMatchObject([url, { code: 'address', said: NOT_REACHED }]);
  });
});

describe('a name is not reached, and the refusal hides why,', () => {
  test.each<[string, Answer | undefined]>([
    ['unknown', undefined],
    ['known without an address', []],
    ['one with a server failure', { code: 2 }],
    ['one that the server refuses to answer', { code: 5 }],
    ['one that the server does not understand', { code: 1 }],
    ['an alias of an unknown name', { aliases: ['nothing.example'] }],
    ['an alias of itself', { aliases: ['a.example', 'b.example', 'a.example'] }],
    ['never answered', 'silence'],
    ['answered under another id', { addresses: [GOOD], fault: 'wrong id' }],
    ['answered with another question', { addresses: [GOOD], fault: 'wrong question' }],
    ['answered with half a message', { addresses: [GOOD], fault: 'cut off' }],
    ['answered with fewer records than announced', { addresses: [GOOD], fault: 'miscounted' }],
    ['answered with three bytes', { addresses: [GOOD], fault: 'too short addresses' }],
    ['always truncated', { fault: 'truncated' }],
    ['silent of one kind and bad of the other', { four: [BAD], six: 'silence' }],
    ['silent of one kind and good of the other', { four: 'silence', six: ['2600:0:0:0:0:0:0:1'] }],
  ])('when it is %s', async (_what, answered) => {
    const name = answered === undefined ? `unknown-${(names += 1)}.example` : named(answered);
    const fault = await world.faultOf(at(name), { ...over(), limits: short });

    expect(fault.code).toMatch(/^(network|slow)$/);
    if (fault.code === 'network') expect(fault.said).toBe(NOT_REACHED);
    expect(fault.said).not.toContain(name);
  });

  test.each([
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}example`,
    `${'long-label.'.repeat(30)}example`,
    'xn--.example',
    '-.example',
    '*.example',
  ])('when it is not a valid name: %s', async (name) => {
    const asked = world.dns.asked.length;

    expect((await world.faultOf(`http://${name}/`, over())).code).toBe('network');
    expect(world.dns.asked.slice(asked).every((question) => question.length < 256)).toBe(true);
  });
});

describe('a name is reached', () => {
  test.each<[string, Answer]>([
    ['with addresses of one kind only', { four: [GOOD], six: { code: 3 } }],
    ['with addresses of one kind and a failure of the other', { four: [GOOD], six: { code: 2 } }],
    ['through an alias', { aliases: ['a.example', 'b.example'], addresses: [GOOD] }],
    ['with the same address twice', [GOOD, GOOD]],
    ['although a forged answer came first', { addresses: [GOOD], forged: [BAD] }],
  ])('%s', async (_what, answered) => {
    expect(await world.fetchOf(at(named(answered)), over())).toEqual({ bytes: BYTES });
  });

  test('when all of its many addresses are good, over TCP if they exceed a packet', async () => {
    expect(await world.fetchOf(at(named(Array<string>(300).fill(GOOD))), over())).toEqual({ bytes: BYTES });
  });
});

describe('a name whose answer changes', () => {
  test('is resolved once for a connection, which dials the checked answer', async () => {
    const name = named([GOOD], [BAD]);
    const before = [good.connections(), world.dns.asked.length];

    expect(await world.fetchOf(at(name), over())).toEqual({ bytes: BYTES });
    expect(world.dns.asked.slice(before[1])).toEqual([name, name]);
    expect(good.connections()).toBe(before[0]! + 1);
    expect((await world.faultOf(at(name), over())).code).toBe('address');
  });

  test('is checked at each redirect: good at the first, bad at the second', async () => {
    for (const hops of [1, 2, 3]) {
      const answers: Answer[] = [...Array.from({ length: hops }, () => [GOOD]), [BAD]];
      const name = named(...answers);
      let url = `http://${name}:${good.port}/0`;
      for (let hop = 0; hop < hops; hop += 1)
        url = good.url(answer(['302 Found', `location: ${url}`, 'content-length: 0'])).replace(GOOD, name);

      expect([hops, (await world.faultOf(url, over())).code]).toEqual([hops, 'address']);
    }
  });

  test('is refused as the target of a good name', async () => {
    const url = world.origin.url(redirects(at(named([GOOD, BAD]))));
    const both = addressPolicy({
      allow: [
        { host: GOOD, port: good.port },
        { host: GOOD, port: world.origin.port },
      ],
      ports: [],
    });

    expect((await world.faultOf(url, { ...over(), policy: both })).code).toBe('address');
    expect(await world.fetchOf(world.origin.url(redirects(world.origin.url(serves(BYTES)))), { policy: both })).toEqual(
      { bytes: BYTES },
    );
  });

  test('is resolved again when a transfer continues, and a bad answer ends the transfer', async () => {
    const name = named([GOOD], [BAD]);
    const url = good
      .url((socket) => {
        socket.end(answer(['200 OK', 'etag: "1"', 'content-length: 30'], 'abc'));
      })
      .replace(GOOD, name);

    expect((await world.faultOf(url, { ...over(), resume: true })).code).toBe('address');
  });
});

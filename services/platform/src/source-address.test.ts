import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isNetwork, sourceNetwork, sourceReader } from './source-address.ts';

const PROXIES = ['10.0.0.0/8', '192.0.2.9', '2001:db8:1::/48'];
const read = (peer: string | undefined, forwarded?: string, proxies: readonly string[] = PROXIES): string =>
  sourceReader(proxies)({ socket: { remoteAddress: peer }, headers: { 'x-forwarded-for': forwarded } });

describe('the address of a request', () => {
  test.each<[string, string | undefined, string | undefined, readonly string[], string]>([
    ['is that of the connection', '198.51.100.1', undefined, [], '198.51.100.1'],
    ['without trusted proxies is that of the connection', '10.0.0.1', '198.51.100.1', [], '10.0.0.1'],
    ['of a stranger is not what it claims', '198.51.100.1', '203.0.113.5', PROXIES, '198.51.100.1'],
    ['behind a proxy is what the proxy saw', '10.0.0.1', '198.51.100.1', PROXIES, '198.51.100.1'],
    ['behind a proxy is not what the client claimed', '10.0.0.1', '203.0.113.5, 198.51.100.1', PROXIES, '198.51.100.1'],
    ['behind two proxies is found', '10.0.0.1', '9.9.9.9,198.51.100.1,192.0.2.9', PROXIES, '198.51.100.1'],
    ['of a client beside the proxies is the first', '10.0.0.1', '10.1.1.1, 10.2.2.2', PROXIES, '10.1.1.1'],
    ['behind a proxy that says nothing is the proxy', '10.0.0.1', undefined, PROXIES, '10.0.0.1'],
    ['behind a proxy that says nonsense is the proxy', '10.0.0.1', '198.51.100.1, unknown', PROXIES, '10.0.0.1'],
    ['behind a proxy that says an empty text is the proxy', '10.0.0.1', ' , ', PROXIES, '10.0.0.1'],
    ['can have a port', '10.0.0.1', '198.51.100.1:4711', PROXIES, '198.51.100.1'],
    ['can have brackets and a port', '10.0.0.1', '[2001:DB8:2::1]:80', PROXIES, '2001:db8:2:0:0:0:0:1'],
    ['of IPv4 within IPv6 is that of IPv4', '::ffff:10.0.0.1', '::ffff:c633:6401', PROXIES, '198.51.100.1'],
    ['behind a proxy of IPv6 is found', '2001:db8:1::5', '198.51.100.1', PROXIES, '198.51.100.1'],
    ['loses its zone', 'fe80::1%eth0', undefined, [], 'fe80:0:0:0:0:0:0:1'],
    ['of a closed connection is not known', undefined, '198.51.100.1', PROXIES, 'unknown'],
  ])('%s', (_what, peer, forwarded, proxies, expected) => {
    expect(read(peer, forwarded, proxies)).toBe(expected);
  });

  const outside = fc.tuple(fc.integer({ min: 11, max: 126 }), fc.nat(255), fc.nat(255), fc.nat(255));
  const proxy = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((rest) => `10.${rest.join('.')}`);
  const claim = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), proxy), { maxLength: 60 }).map((list) => list.join(', ')),
  );

  test('cannot be chosen by a client, whatever it claims and however many proxies it passes', () => {
    fc.assert(
      fc.property(outside, claim, fc.array(proxy, { maxLength: 8 }), (octets, claimed, passed) => {
        const client = octets.join('.');
        const [last, ...others] = passed.toReversed();
        // each proxy adds the address that it was called from
        const added = [claimed, ...(last === undefined ? [] : [client, ...others.toReversed()])].join(',');
        expect(read(last ?? client, added)).toBe(client);
      }),
    );
  });
  test('is an address, whatever the header holds', () => {
    fc.assert(
      fc.property(claim, (claimed) => {
        expect(read('10.0.0.1', claimed)).toMatch(/^[\d.]+$|^[\da-f:]+$/);
      }),
    );
  });
});

describe('a network', () => {
  test.each([
    ['198.51.100.1', '198.51.100.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['unknown', 'unknown'],
  ])('of %s is %s', (address, expected) => {
    expect(sourceNetwork(address)).toBe(expected);
  });
  test.each([
    ['10.0.0.0/8', true],
    ['10.0.0.1', true],
    ['2001:db8::/32', true],
    ['::1', true],
    ['10.0.0.0/33', false],
    ['2001:db8::/129', false],
    ['10.0.0/8', false],
    ['name', false],
    ['10.0.0.0/8/8', false],
    ['fe80::1%eth0', false],
    ['', false],
  ])('may be written as %j: %s', (text, expected) => {
    expect(isNetwork(text)).toBe(expected);
  });
});

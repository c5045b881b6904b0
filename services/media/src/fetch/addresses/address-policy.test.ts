import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toAddressKey, addressPolicy, isPublicAddress } from './address-policy.ts';

const refused: readonly (readonly [string, string])[] = [
  ['0.0.0.0', 'this network'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.1', 'carrier NAT'],
  ['100.127.255.255', 'carrier NAT'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.255', 'loopback'],
  ['168.63.129.16', 'a cloud platform'],
  ['169.254.169.254', 'metadata'],
  ['169.254.0.1', 'link-local'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.1', 'protocol assignments'],
  ['192.0.0.170', 'NAT64 discovery'],
  ['192.0.2.1', 'documentation'],
  ['192.31.196.1', 'AS112'],
  ['192.52.193.1', 'AMT'],
  ['192.88.99.1', '6to4 relay'],
  ['192.168.1.1', 'private'],
  ['192.175.48.1', 'AS112'],
  ['198.18.0.1', 'benchmarks'],
  ['198.19.255.255', 'benchmarks'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::7f00:1', 'IPv4-compatible loopback'],
  ['::a9fe:a9fe', 'IPv4-compatible metadata'],
  ['::8.8.8.8', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'mapped loopback'],
  ['::ffff:10.0.0.1', 'mapped private'],
  ['::ffff:a9fe:a9fe', 'mapped metadata'],
  ['::ffff:0:127.0.0.1', 'translated'],
  ['64:ff9b::7f00:1', 'NAT64'],
  ['64:ff9b::808:808', 'NAT64 of a public one'],
  ['64:ff9b:1::1', 'local NAT64'],
  ['100::1', 'discard'],
  ['100:0:0:1::1', 'dummy'],
  ['2001::1', 'Teredo'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
  ['2001:2::1', 'benchmarks'],
  ['2001:10::1', 'ORCHID'],
  ['2001:20::1', 'ORCHIDv2'],
  ['2001:1ff:ffff::1', 'protocol assignments'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::1', '6to4'],
  ['2002:808:808::1', '6to4 of a public one'],
  ['3fff::1', 'documentation'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'metadata'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['4000::1', 'not given out'],
  ['e000::1', 'not given out'],
  ['1::1', 'not given out'],
  ['2600:1f18::5efe:a00:1', 'ISATAP'],
  ['2600:1f18::200:5efe:a00:1', 'ISATAP'],
  ['2600:1f18::1%1', 'a zone'],
];
const permitted = [
  '8.8.8.8',
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '128.0.0.1',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.1',
  '168.63.129.17',
  '192.167.255.255',
  '192.169.0.1',
  '198.17.255.255',
  '198.20.0.1',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '2001:4860:4860::8888',
  '2003::1',
  '3ffe::1',
];
const noAddresses = [
  '',
  ' 127.0.0.1',
  '127.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '[::1]',
  '127.0.0.1:80',
  'localhost',
  '1.2.3',
  '256.1.1.1',
  '::1::',
  '8.8.8.8 ',
  '８.8.8.8',
];

describe('isPublicAddress', () => {
  test.each(refused)('refuses %s (%s)', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(permitted)('permits %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each(noAddresses)('refuses a text that is not an address: %j', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  test('judges an IPv4 address the same when it is mapped into IPv6', () => {
    fc.assert(fc.property(fc.ipV4(), (address) => isPublicAddress(`::ffff:${address}`) === isPublicAddress(address)));
  });

  test('refuses every IPv6 address outside of 2000::/3 except a mapped one', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (parts) => {
        const outside = ((parts[0] ?? 0) & 0xe000) !== 0x2000;
        const mapped = parts.slice(0, 5).every((part) => part === 0) && parts[5] === 0xffff;
        return !outside || mapped || !isPublicAddress(parts.map((part) => part.toString(16)).join(':'));
      }),
    );
  });
});

describe('addressPolicy', () => {
  const policy = addressPolicy({
    allow: [
      { host: '127.0.0.1', port: 9000 },
      { host: '::1', port: 9001 },
    ],
    ports: [80, 443],
  });

  test.each([
    ['127.0.0.1', 9000, true],
    ['127.0.0.1', 9001, false],
    ['127.0.0.1', 80, false],
    ['127.0.0.2', 9000, false],
    ['10.0.0.1', 9000, false],
    ['::1', 9001, true],
    ['0:0:0:0:0:0:0:1', 9001, true],
    ['::1', 9000, false],
    ['8.8.8.8', 80, true],
    ['', 9000, false],
    ['localhost', 9000, false],
  ])('%s port %i: %s', (address, port, expected) => {
    expect(policy.permits(address, port)).toBe(expected);
  });

  test.each([
    [80, true],
    [443, true],
    [9000, true],
    [22, false],
    [8080, false],
  ])('port %i can be dialled: %s', (port, expected) => {
    expect(policy.permitsPort(port)).toBe(expected);
  });
});

describe('an address key is', () => {
  test.each([
    ['8.8.8.8', '::ffff:8.8.8.8'],
    ['8.8.8.8', '::ffff:808:808'],
    ['2600::1', '2600:0:0:0:ffff::9'],
    ['2600:1:2:3::', '2600:1:2:3:ffff:ffff:ffff:ffff'],
  ])('shared by %s and %s', (one, other) => {
    expect(toAddressKey(one)).toBe(toAddressKey(other));
  });

  test.each([
    ['8.8.8.8', '8.8.8.9'],
    ['2600:1:2:3::1', '2600:1:2:4::1'],
    ['2600::1', '8.8.8.8'],
  ])('different for %s and %s', (one, other) => {
    expect(toAddressKey(one)).not.toBe(toAddressKey(other));
  });
});

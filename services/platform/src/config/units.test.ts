import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseBytes, parseDuration, parseHostPort } from './units.ts';

const NOT_NUMBERS = ['', ' ', '1.5', '-1', '+1', '1e3', '0x10', '١', 'NaN', 'Infinity', '99999999999999999999'];

describe('a duration', () => {
  test.each<[string, number]>([
    ['0s', 0],
    ['200ms', 200],
    ['3s', 3000],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['007s', 7000],
    ['9007199254740991ms', 9_007_199_254_740_991],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    ...NOT_NUMBERS.map((text) => `${text}s`),
    '3',
    's',
    '3 s',
    ' 3s',
    '3s ',
    '3S',
    '3sec',
    '3w',
    '1h30m',
    '3s\n',
    '9007199254740993ms',
  ])('%j is not a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('a size', () => {
  test.each<[string, number]>([
    ['0', 0],
    ['512', 512],
    ['512B', 512],
    ['64KiB', 65_536],
    ['64MiB', 67_108_864],
    ['2GiB', 2_147_483_648],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parseBytes(text)).toBe(bytes);
  });

  test.each([
    ...NOT_NUMBERS,
    'B',
    'KiB',
    '64MB',
    '64M',
    '64 MiB',
    '64mib',
    '64TiB',
    '64MiB ',
    '64\n',
    '9007199254740992',
    '8388608GiB',
  ])('%j is not a size', (text) => {
    expect(parseBytes(text)).toBeUndefined();
  });
});

describe('an address', () => {
  test.each<[string, string, number]>([
    ['127.0.0.1:8080', '127.0.0.1', 8080],
    ['localhost:0', 'localhost', 0],
    ['tasks.reelgate.svc:65535', 'tasks.reelgate.svc', 65_535],
    ['[::1]:80', '::1', 80],
    ['[2001:DB8::1]:443', '2001:DB8::1', 443],
    ['a_b:1', 'a_b', 1],
  ])('%s is %s and %i', (text, host, port) => {
    expect(parseHostPort(text)).toEqual({ host, port });
  });

  test.each([
    '',
    ':',
    ':80',
    'host',
    'host:',
    '8080',
    '::1:80',
    '[]:80',
    '[::1]',
    '[::1',
    'host:65536',
    'host:-1',
    'host:8x',
    'host:100000',
    'host :80',
    'ho/st:80',
    'user@host:80',
    'http://host:80',
    'host:80/',
    'host:80\n',
  ])('%j is not an address', (text) => {
    expect(parseHostPort(text)).toBeUndefined();
  });
});

test('any text gives a whole number from zero, or undefined', () => {
  const texts = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.nat(), fc.constantFrom('ms', 's', 'm', 'h', 'd', 'B', 'KiB', 'MiB', 'GiB', ''))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      for (const value of [parseDuration(text), parseBytes(text)])
        expect(value === undefined || (Number.isSafeInteger(value) && value >= 0)).toBe(true);
      const address = parseHostPort(text);
      expect(address === undefined || (address.host !== '' && address.port >= 0 && address.port <= 65_535)).toBe(true);
    }),
  );
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Secret } from './secret.ts';
import { isSigned, signPath, signName, readSignedName } from './signatures.ts';

const key = new Secret('signing key');
const PATH = '/ximg/a.mp4';
const EXPIRES = 1_800_000_000;

const signatureOf = (query: string): string => new URLSearchParams(query).get('sig') ?? '';

describe('a signed path', () => {
  test('has a query that needs no escaping', () => {
    expect(signPath(key, PATH, EXPIRES)).toMatch(/^exp=1800000000&sig=[A-Za-z0-9_-]{43}$/);
  });

  test('is verified for any path', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (path, expiresAt) => {
        expect(isSigned([key], path, expiresAt, signatureOf(signPath(key, path, expiresAt)))).toBe(true);
      }),
    );
  });

  const signature = signatureOf(signPath(key, PATH, EXPIRES));

  test.each<[string, Secret, string, number, string]>([
    ['another path', key, '/ximg/b.mp4', EXPIRES, signature],
    ['a longer path', key, `${PATH}/`, EXPIRES, signature],
    ['a later time', key, PATH, EXPIRES + 1, signature],
    ['an earlier time', key, PATH, EXPIRES - 1, signature],
    ['no time', key, PATH, Number.NaN, signature],
    ['another key', new Secret('other'), PATH, EXPIRES, signature],
    ['no signature', key, PATH, EXPIRES, ''],
    ['half a signature', key, PATH, EXPIRES, signature.slice(0, 20)],
    ['a signature that is too long', key, PATH, EXPIRES, `${signature}=`],
    ['a signature in upper case', key, PATH, EXPIRES, signature.toUpperCase()],
    ['characters moved from the path into the time', key, '/ximg/a.mp41', 800_000_000, signature],
  ])('is rejected with %s', (_what, withKey, path, expiresAt, given) => {
    expect(isSigned([withKey], path, expiresAt, given)).toBe(false);
  });
});

const signed = signName(key, 'thing_1.2');

describe('a signed name', () => {
  test('needs no escaping in a path', () => {
    expect(signed).toMatch(/^thing_1\.2\.[A-Za-z0-9_-]{43}$/);
  });

  test('is verified for any name', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(readSignedName([key], signName(key, name))).toBe(name);
      }),
    );
  });

  test.each<[string, Secret, string]>([
    ['another name', key, signed.replace('thing_1', 'thing_2')],
    ['a longer name', key, signed.replace('.2.', '.22.')],
    ['another key', new Secret('other'), signed],
    ['no signature', key, 'thing_1.2.'],
    ['no signature and no dot', key, 'thing_1'],
    ['half a signature', key, signed.slice(0, -20)],
    ['a signature that is too long', key, `${signed}=`],
    ['no text', key, ''],
  ])('is rejected with %s', (_what, withKey, given) => {
    expect(readSignedName([withKey], given)).toBeUndefined();
  });
});

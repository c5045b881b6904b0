import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Secret } from '../secret.ts';
import { signName, readSignedName } from './signed-name.ts';

const key = new Secret('signing key');
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

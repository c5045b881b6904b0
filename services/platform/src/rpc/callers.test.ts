import { describe, expect, test } from '@jest/globals';
import { aCaller } from '../../testing/a-caller.ts';
import { Problem } from '../problem.ts';
import { Secret } from '../secret.ts';
import { identifyAmong } from './callers.ts';
import type { KnownCaller } from './callers.ts';
import type { Caller } from './service.ts';

const ours: KnownCaller = { ...aCaller(), key: new Secret('key-of-the-program') };
const restricted: KnownCaller = {
  ...aCaller({ name: 'reporting', accounts: ['demo', 'lab'] }),
  key: new Secret('key-of-reporting'),
};

describe('a caller', () => {
  const identify = identifyAmong([ours, restricted]);

  test('is found by its key, and the result contains no key', () => {
    expect(identify('Bearer key-of-the-program')).toEqual(aCaller());
    expect(identify('Bearer key-of-reporting')).toEqual(aCaller({ name: 'reporting', accounts: ['demo', 'lab'] }));
  });

  test.each([
    [undefined],
    [''],
    ['Bearer'],
    ['Bearer '],
    ['key-of-the-program'],
    ['bearer key-of-the-program'],
    ['Basic key-of-the-program'],
    ['Bearer  key-of-the-program'],
    ['Bearer key-of-the-program '],
    ['Bearer KEY-OF-THE-PROGRAM'],
  ])('with the header %p is unknown', (authorization) => {
    const call = (): unknown => identify(authorization);

    expect(call).toThrow(Problem);
    expect(call).toThrow(expect.objectContaining({ kind: 'unauthenticated', reason: 'invalid_caller_key' }));
  });

  describe('with a client certificate', () => {
    const byCertificate: KnownCaller = { ...aCaller({ name: 'pipeline' }), certificate: 'pipeline.lab' };
    const byEither: KnownCaller = {
      ...aCaller({ name: 'both' }),
      certificate: 'spiffe://lab/both',
      key: new Secret('k'),
    };
    const find = identifyAmong([ours, byCertificate, byEither]);
    const from =
      (authorization: string | undefined, ...names: readonly string[]) =>
      (): Caller =>
        find(authorization, () => names);

    test.each<[string, () => Caller, string]>([
      ['one of the names in it', from(undefined, 'CN of somebody', 'pipeline.lab'), 'pipeline'],
      ['its certificate, if it has a key too', from(undefined, 'spiffe://lab/both'), 'both'],
      ['its key, if it has a certificate too', from('Bearer k'), 'both'],
      ['the key that it sends, whatever its certificate', from('Bearer key-of-the-program', 'pipeline.lab'), 'program'],
    ])('is known by %s, and the result has neither', (_by, found, name) => {
      expect(found()).toEqual(aCaller({ name }));
    });

    test.each<[string, () => Caller, string, RegExp]>([
      [
        'that no caller has',
        from(undefined, 'a', 'b', 'c', 'd'),
        'unknown_caller_certificate',
        /\(a, b, c\) belongs to no/,
      ],
      ['of two callers', from(undefined, 'pipeline.lab', 'spiffe://lab/both'), 'unknown_caller_certificate', /several/],
      ['that is only alike', from(undefined, 'Pipeline.lab', 'lab'), 'unknown_caller_certificate', /belongs to no/],
      ['and a wrong key', from('Bearer wrong', 'pipeline.lab'), 'invalid_caller_key', /key/],
      ['and an empty header', from('', 'pipeline.lab'), 'invalid_caller_key', /key/],
      ['without a name', from(undefined), 'invalid_caller_key', /key/],
    ])('%s is unknown', (_what, call, reason, message) => {
      expect(call).toThrow(
        expect.objectContaining({ kind: 'unauthenticated', reason, message: expect.stringMatching(message) }),
      );
    });

    test('does not look at the certificate of a call with a key', () => {
      expect(
        find('Bearer k', () => {
          throw new Error('the certificate was parsed');
        }).name,
      ).toBe('both');
    });
  });

  test('without a key is unknown even when a caller is configured with an empty key', () => {
    expect(() => identifyAmong([{ ...ours, key: new Secret('') }])('Bearer ')).toThrow(Problem);
  });
});

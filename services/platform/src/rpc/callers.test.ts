import { describe, expect, test } from '@jest/globals';
import { aCaller } from '../../testing/a-caller.ts';
import { Problem } from '../problem.ts';
import { Secret } from '../secret.ts';
import { callersByKey } from './callers.ts';
import type { KnownCaller } from './callers.ts';

const ours: KnownCaller = { ...aCaller(), key: new Secret('key-of-the-program') };
const restricted: KnownCaller = {
  ...aCaller({ name: 'reporting', accounts: ['demo', 'lab'] }),
  key: new Secret('key-of-reporting'),
};

describe('a caller', () => {
  const identify = callersByKey([ours, restricted]);

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

  test('without a key is unknown even when a caller is configured with an empty key', () => {
    expect(() => callersByKey([{ ...ours, key: new Secret('') }])('Bearer ')).toThrow(Problem);
  });
});

import { describe, expect, test } from '@jest/globals';
import { Problem } from '../problem.ts';
import { Secret } from '../secret.ts';
import { assertMayCall, callersByKey } from './callers.ts';
import type { KnownCaller } from './callers.ts';

const ours: KnownCaller = { name: 'program', key: new Secret('key-of-the-program'), accounts: '*' };
const restricted: KnownCaller = { name: 'reporting', key: new Secret('key-of-reporting'), accounts: ['demo', 'lab'] };

describe('a caller', () => {
  const identify = callersByKey([ours, restricted]);

  test('is found by its key, and what is given has no key in it', () => {
    expect(identify('Bearer key-of-the-program')).toEqual({ name: 'program', accounts: '*' });
    expect(identify('Bearer key-of-reporting')).toEqual({ name: 'reporting', accounts: ['demo', 'lab'] });
  });

  test.each([
    [undefined], [''], ['Bearer'], ['Bearer '], ['key-of-the-program'], ['bearer key-of-the-program'], ['Basic key-of-the-program'],
    ['Bearer  key-of-the-program'], ['Bearer key-of-the-program '], ['Bearer KEY-OF-THE-PROGRAM'],
  ])('that says %p is not known', (authorization) => {
    const call = (): unknown => identify(authorization);

    expect(call).toThrow(Problem);
    expect(call).toThrow(expect.objectContaining({ kind: 'unauthenticated', reason: 'invalid_caller_key' }));
  });

  test('without a key is not known even where a caller was given an empty one', () => {
    expect(() => callersByKey([{ ...ours, key: new Secret('') }])('Bearer ')).toThrow(Problem);
  });
});

describe('what names an account', () => {
  test.each([['demo'], ['lab']])('may be called by a caller that has %s', (accountId) => {
    expect(() => { assertMayCall(restricted, { accountId }); }).not.toThrow();
  });

  test.each([[{ accountId: 'other' }], [{ accountId: '' }], [{}], [{ accountId: ['demo'] }], [{ accountId: 'demo ' }], [{ account: 'demo' }]])('may not be called with %j', (request) => {
    expect(() => { assertMayCall(restricted, request); }).toThrow(expect.objectContaining({ kind: 'forbidden', reason: 'account_not_allowed', field: 'account_id' }));
  });

  test('may not be called by a caller with no accounts', () => {
    expect(() => { assertMayCall({ name: 'nobody', accounts: [] }, { accountId: 'demo' }); }).toThrow(Problem);
  });

  test.each([[{ accountId: 'other' }], [{}]])('may be called with %j by our own parts', (request) => {
    expect(() => { assertMayCall(ours, request); }).not.toThrow();
  });
});

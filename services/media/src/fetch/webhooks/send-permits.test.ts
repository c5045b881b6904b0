import { describe, expect, test } from '@jest/globals';
import {
  ACCOUNT_HOST_SENDS_MAX,
  ACCOUNT_SENDS_MAX,
  HOST_SENDS_MAX,
  SENDS_MAX,
  newSendPermits,
} from './send-permits.ts';
import type { SendPermits } from './send-permits.ts';

const HOST = 'hooks.example';
const take = (
  permits: SendPermits,
  accountId: string,
  host: (at: number) => string | undefined,
  times: number,
): number =>
  Array.from({ length: times }, (_, at) => permits.take(accountId, host(at))).filter((release) => release !== undefined)
    .length;

describe('the requests at one time are bounded', () => {
  test('for an account, over all its hosts', () => {
    const permits = newSendPermits();

    expect(take(permits, 'one', (at) => `${at}.example`, 200)).toBe(ACCOUNT_SENDS_MAX);
    expect(take(permits, 'two', (at) => `${at}.example`, 1)).toBe(1);
  });

  test('for an account at one host', () => {
    const permits = newSendPermits();

    expect(take(permits, 'one', () => HOST, 200)).toBe(ACCOUNT_HOST_SENDS_MAX);
    expect(take(permits, 'one', () => 'other.example', 1)).toBe(1);
    expect(take(permits, 'two', () => HOST, 1)).toBe(1);
  });

  test('for a host, over all accounts', () => {
    const permits = newSendPermits();
    const taken = ['one', 'two', 'three'].map((account) => take(permits, account, () => HOST, 200));

    expect(taken).toEqual([ACCOUNT_HOST_SENDS_MAX, HOST_SENDS_MAX - ACCOUNT_HOST_SENDS_MAX, 0]);
  });

  test('over all', () => {
    const permits = newSendPermits();
    const taken = ['one', 'two', 'three', 'four', 'five'].map((account) =>
      take(permits, account, () => undefined, 200),
    );

    expect(taken.reduce((sum, count) => sum + count)).toBe(SENDS_MAX);
    expect(taken.at(-1)).toBe(0);
  });
});

test('a permit that is given back is free once more, and only once', () => {
  const permits = newSendPermits();
  const releases = Array.from({ length: ACCOUNT_HOST_SENDS_MAX }, () => permits.take('one', HOST));
  releases[0]?.();
  releases[0]?.();

  expect(take(permits, 'one', () => HOST, 2)).toBe(1);
});

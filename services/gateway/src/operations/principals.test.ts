import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Soon } from '@reelgate/platform/soon';
import { Problem } from '@reelgate/platform/problem';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { Principal } from '../clients/billing-client.ts';
import { cachedPrincipals } from './principals.ts';
import type { Principals } from './principals.ts';

let clock: FakeClock;
let asked: string[];
let answers: Map<string, Principal>;
let principals: Principals;

const principal = (over: Partial<Principal> = {}): Principal => ({
  accountId: 'demo',
  tokenId: 'token-1',
  models: ['*'],
  expiresAt: undefined,
  webhooks: 'write',
  tokenName: 'ci',
  tokens: 'none',
  ...over,
});
const unknown = (): Problem =>
  new Problem({ kind: 'unauthenticated', reason: 'invalid_api_key', message: 'this token is not known' });
const reasonOf = (call: Soon<unknown>): Promise<string> =>
  Promise.resolve(call).then(
    () => 'ok',
    (error: unknown) => (error as Problem).reason,
  );

beforeEach(() => {
  clock = fakeClock();
  asked = [];
  answers = new Map([['key-1', principal()]]);
  principals = cachedPrincipals(async (key) => {
    asked.push(key);
    const found = answers.get(key);
    if (found === undefined) throw unknown();
    return found;
  }, clock);
});

describe('a known token', () => {
  test('is checked again after the clock is set back by hours', async () => {
    await principals.of('key-1', '');
    await clock.advance(-5 * 3600 * 1000);
    await principals.of('key-1', '');

    expect(asked).toHaveLength(2);
  });

  test('is checked once in ten seconds', async () => {
    await principals.of('key-1', '');
    await clock.advance(9999);
    await principals.of('key-1', '');
    expect(asked).toHaveLength(1);

    await clock.advance(1);
    await principals.of('key-1', '');
    expect(asked).toHaveLength(2);
  });
  test('is checked once for many requests at the same time', async () => {
    await Promise.all(Array.from({ length: 50 }, async () => principals.of('key-1', '')));

    expect(asked).toHaveLength(1);
  });
  test('is checked again after it changed, and another is not', async () => {
    answers.set('key-2', principal({ tokenId: 'token-2' }));
    await principals.of('key-1', '');
    await principals.of('key-2', '');
    answers.delete('key-1');
    principals.drop('token-1');

    expect(await reasonOf(principals.of('key-1', ''))).toBe('invalid_api_key');
    await principals.of('key-2', '');
    expect(asked).toEqual(['key-1', 'key-2', 'key-1']);
  });
  test('that changes during its check is not cached in its old state', async () => {
    const first = principals.of('key-1', '');
    principals.drop('token-1');
    await first;
    answers.set('key-1', principal({ models: ['Beta-V1'] }));

    expect((await principals.of('key-1', '')).models).toEqual(['Beta-V1']);
  });
  test('expires by the clock, without a call to billing', async () => {
    answers.set('key-1', principal({ expiresAt: clock.now() + 5000 }));
    await principals.of('key-1', '');
    await clock.advance(5000);

    expect(await reasonOf(principals.of('key-1', ''))).toBe('token_disabled');
    expect(asked).toHaveLength(1);
  });
});

describe('an unknown token', () => {
  test('is refused from the cache for a short time, and then checked again', async () => {
    expect(await reasonOf(principals.of('unknown', ''))).toBe('invalid_api_key');
    expect(await reasonOf(principals.of('unknown', ''))).toBe('invalid_api_key');
    expect(asked).toHaveLength(1);

    await clock.advance(3000);
    answers.set('unknown', principal());
    expect(await reasonOf(principals.of('unknown', ''))).toBe('ok');
  });
  test('a flood of them reaches billing at a bounded rate, and does not affect known tokens', async () => {
    await principals.of('key-1', '');
    const flood = async (name: string): Promise<string[]> =>
      Promise.all(Array.from({ length: 5000 }, (_, index) => reasonOf(principals.of(`${name}-${String(index)}`, ''))));

    const reasons = await flood('first');
    expect(asked.length).toBeLessThanOrEqual(501);
    expect(new Set(reasons)).toEqual(new Set(['invalid_api_key', 'gateway_busy']));

    await clock.advance(10_000);
    asked.length = 0;
    await flood('second');
    expect(asked.length).toBeLessThanOrEqual(500);
    expect(await reasonOf(principals.of('key-1', ''))).toBe('ok');
  });
});

test('nothing is cached if billing does not answer', async () => {
  let down = true;
  const cached = cachedPrincipals(async () => {
    if (down) throw new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'cannot be reached' });
    return principal();
  }, clock);

  expect(await reasonOf(cached.of('key-1', ''))).toBe('service_unavailable');
  down = false;
  expect(await reasonOf(cached.of('key-1', ''))).toBe('ok');
});

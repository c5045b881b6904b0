import { beforeEach, describe, expect, test } from '@jest/globals';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import { Problem } from '@reelgate/platform/problem';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { Principal } from '../clients/billing-client.ts';
import { cachePrincipals } from './principals.ts';
import type { Principals, TokenCall } from './principals.ts';

const callFrom = (address: string): TokenCall => ({ requestId: '', source: () => address });
const CALL = callFrom('192.0.2.1');

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
const reasonOf = (call: MaybePromise<unknown>): Promise<string> =>
  Promise.resolve(call).then(
    () => 'ok',
    (error: unknown) => (error as Problem).reason,
  );

beforeEach(() => {
  clock = fakeClock();
  asked = [];
  answers = new Map([['key-1', principal()]]);
  principals = cachePrincipals(async (key) => {
    asked.push(key);
    const found = answers.get(key);
    if (found === undefined) throw unknown();
    return found;
  }, clock);
});

describe('a known token', () => {
  test('is checked again after the clock is set back by hours', async () => {
    await principals.of('key-1', CALL);
    await clock.advance(-5 * 3600 * 1000);
    await principals.of('key-1', CALL);

    expect(asked).toHaveLength(2);
  });

  test('is checked once in ten seconds', async () => {
    await principals.of('key-1', CALL);
    await clock.advance(9999);
    await principals.of('key-1', CALL);
    expect(asked).toHaveLength(1);

    await clock.advance(1);
    await principals.of('key-1', CALL);
    expect(asked).toHaveLength(2);
  });
  test('is checked once for many requests at the same time', async () => {
    await Promise.all(Array.from({ length: 50 }, async () => principals.of('key-1', CALL)));

    expect(asked).toHaveLength(1);
  });
  test('is checked again after it changed, and another is not', async () => {
    answers.set('key-2', principal({ tokenId: 'token-2' }));
    await principals.of('key-1', CALL);
    await principals.of('key-2', CALL);
    answers.delete('key-1');
    principals.drop('token-1');

    expect(await reasonOf(principals.of('key-1', CALL))).toBe('invalid_api_key');
    await principals.of('key-2', CALL);
    expect(asked).toEqual(['key-1', 'key-2', 'key-1']);
  });
  test('that a call with a stricter age has checked and billing refuses is refused to every call', async () => {
    await principals.of('key-1', CALL);
    answers.delete('key-1');
    await clock.advance(2000);

    expect(await reasonOf(principals.of('key-1', { ...CALL, freshMs: 1000 }))).toBe('invalid_api_key');
    expect(await reasonOf(principals.of('key-1', CALL))).toBe('invalid_api_key');
  });
  test('that changes during its check is not cached in its old state', async () => {
    const first = principals.of('key-1', CALL);
    principals.drop('token-1');
    await first;
    answers.set('key-1', principal({ models: ['Beta-V1'] }));

    expect((await principals.of('key-1', CALL)).models).toEqual(['Beta-V1']);
  });
  test('expires by the clock, without a call to billing', async () => {
    answers.set('key-1', principal({ expiresAt: clock.now() + 5000 }));
    await principals.of('key-1', CALL);
    await clock.advance(5000);

    expect(await reasonOf(principals.of('key-1', CALL))).toBe('token_disabled');
    expect(asked).toHaveLength(1);
  });
});

describe('an unknown token', () => {
  test('is refused from the cache for a short time, and then checked again', async () => {
    expect(await reasonOf(principals.of('unknown', CALL))).toBe('invalid_api_key');
    expect(await reasonOf(principals.of('unknown', CALL))).toBe('invalid_api_key');
    expect(asked).toHaveLength(1);

    await clock.advance(3000);
    answers.set('unknown', principal());
    expect(await reasonOf(principals.of('unknown', CALL))).toBe('ok');
  });
  describe('in a flood', () => {
    /** More than all addresses together may look up at once. */
    const TOKENS = 1700;
    const flood = async (name: string, addresses: readonly string[] = ['192.0.2.1']): Promise<Set<string>> =>
      new Set(
        await Promise.all(
          Array.from({ length: TOKENS }, (_, index) =>
            reasonOf(principals.of(`${name}-${index}`, callFrom(addresses[index % addresses.length] ?? ''))),
          ),
        ),
      );

    test('reaches billing as often as the share of its address allows', async () => {
      expect(await flood('first')).toEqual(new Set(['invalid_api_key', 'rate_limit_exceeded']));
      expect(asked).toHaveLength(250);

      asked.length = 0;
      await clock.advance(1000);
      await flood('second');
      expect(asked).toHaveLength(100);
    });
    test.each([
      ['one address', ['192.0.2.1']],
      ['ten addresses', Array.from({ length: 10 }, (_, index) => `192.0.2.${index + 1}`)],
      ['one network of IPv6', Array.from({ length: TOKENS }, (_, index) => `2001:db8::${index.toString(16)}`)],
    ])('from %s for some time, it keeps no new token of another address out', async (_who, addresses) => {
      for (let second = 0; second < 10; second += 1) {
        await flood(`second-${second}`, addresses);
        answers.set(`new-${second}`, principal({ tokenId: `new-${second}` }));
        expect(await reasonOf(principals.of(`new-${second}`, callFrom('198.51.100.7')))).toBe('ok');
        await clock.advance(1000);
      }
    });
    test('from any number of addresses, it reaches billing at a bounded rate', async () => {
      const addresses = Array.from({ length: 1000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
      expect(await flood('first', addresses)).toEqual(new Set(['invalid_api_key', 'gateway_busy']));
      expect(asked).toHaveLength(500);

      asked.length = 0;
      await clock.advance(1000);
      await flood('second', addresses);
      expect(asked).toHaveLength(200);
    });
    test('does not affect known tokens, not even of its own address', async () => {
      await principals.of('key-1', CALL);
      await flood('first');
      await clock.advance(10_000);
      await flood('second');

      expect(await reasonOf(principals.of('key-1', CALL))).toBe('ok');
    });
  });
});

test('nothing is cached if billing does not answer', async () => {
  let down = true;
  const cached = cachePrincipals(async () => {
    if (down) throw new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'cannot be reached' });
    return principal();
  }, clock);

  expect(await reasonOf(cached.of('key-1', CALL))).toBe('service_unavailable');
  down = false;
  expect(await reasonOf(cached.of('key-1', CALL))).toBe('ok');
});

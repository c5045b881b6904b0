import { beforeEach, describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { OrderAnswer, CallOrder } from '../../domain/call-order.ts';
import { newHoldForecast } from './hold-forecast.ts';
import type { HoldForecast } from './hold-forecast.ts';

const HOLD = 10;
const HOLD_MAX = 100;
/** Twice the hold, because a like call can hold twice as much; fifty times that must be left. */
const ENOUGH = 2 * HOLD * 50;

let clock: FakeClock;
let forecast: HoldForecast;
beforeEach(() => {
  clock = fakeClock();
  forecast = newHoldForecast({ clock, holdMax: HOLD_MAX });
});

const anOrder = (over: Partial<CallOrder> = {}): CallOrder => ({
  callId: 'call_1',
  accountId: 'demo',
  tokenId: 'token',
  priceKeys: ['m__chat', 'm'],
  facts: { inputTokens: 100, outputTokens: 100 },
  lapsesAt: 0,
  ...over,
});
const held = (ofAccount: number, ofToken?: number, heldNanos = HOLD): OrderAnswer => ({
  durable: undefined,
  heldNanos,
  remaining: { ofAccount, ofToken },
});
const refused: OrderAnswer = { refusal: new Error('no') };
const learn = (answer: OrderAnswer | undefined, over: Partial<CallOrder> = {}): void => {
  forecast.countSent(anOrder(over)).learn(answer);
};
/** The order stays on its way. */
const isForeseen = (over: Partial<CallOrder> = {}): boolean => forecast.countSent(anOrder(over)).isCovered;

describe('a hold is foreseen', () => {
  test('if the account and its token have fifty times what it can take', () => {
    learn(held(ENOUGH, ENOUGH));
    expect(isForeseen()).toBe(true);
  });
  test('if its quantities are of the magnitude of a known call', () => {
    learn(held(ENOUGH));
    expect(isForeseen({ facts: { inputTokens: 127, outputTokens: 64 } })).toBe(true);
  });
  test('if the token has no limit', () => {
    learn(held(ENOUGH));
    expect(isForeseen()).toBe(true);
  });
  test('again after billing has held another call', () => {
    learn(held(ENOUGH));
    learn(refused);
    learn(held(ENOUGH));
    expect(isForeseen()).toBe(true);
  });
});

describe('a hold is not foreseen', () => {
  test.each<[string, () => void, Partial<CallOrder>?]>([
    ['if nothing is known', () => undefined],
    ['if the account is near its limit', () => learn(held(ENOUGH - 1))],
    ['if the token is near its limit', () => learn(held(ENOUGH, ENOUGH - 1))],
    ['if no call of that size is known', () => learn(held(ENOUGH)), { facts: { inputTokens: 128, outputTokens: 100 } }],
    ['if its quantities are unknown', () => learn(held(ENOUGH)), { facts: {} }],
    ['if no call with that price is known', () => learn(held(ENOUGH)), { priceKeys: ['other__chat', 'other'] }],
    ['if nothing is known of the account', () => learn(held(ENOUGH)), { accountId: 'other' }],
    ['if nothing is known of the token', () => learn(held(ENOUGH)), { tokenId: 'other' }],
    [
      'if billing does not say what is left',
      () => learn({ durable: undefined, heldNanos: HOLD, remaining: undefined }),
    ],
    ['if it can be large', () => learn(held(Infinity, undefined, HOLD_MAX / 2 + 1))],
    [
      'after a refusal',
      () => {
        learn(held(ENOUGH));
        learn(refused);
      },
    ],
    [
      'after a refusal of another call of the account',
      () => {
        learn(held(ENOUGH));
        learn(refused, { priceKeys: ['other'] });
      },
    ],
    [
      'after an answer that was lost',
      () => {
        learn(held(ENOUGH));
        learn(undefined);
      },
    ],
  ])('%s', (_when, prepare, order = {}) => {
    prepare();
    expect(isForeseen(order)).toBe(false);
  });

  test('if what is known is older than ten seconds', async () => {
    learn(held(2 * ENOUGH));
    await clock.advance(10_000);
    expect(isForeseen()).toBe(true);
    await clock.advance(1);
    expect(isForeseen()).toBe(false);
  });

  test('while other holds of the account are on their way and together could take too much', () => {
    learn(held(3 * ENOUGH));
    const sent = ['token', 'other', 'token', 'token'].map((tokenId) => forecast.countSent(anOrder({ tokenId })));
    expect(sent.map(({ isCovered }) => isCovered)).toEqual([true, false, true, false]);

    for (const one of sent) one.learn(held(3 * ENOUGH));
    expect(isForeseen()).toBe(true);
  });
});

import { describe, expect, test } from '@jest/globals';
import { isRefusal, keepMakings, listOrders, planMakings } from './making.ts';
import type { FormCreate, MakingState } from './making.ts';
import type { Order } from './try-order.ts';

const order = { model: 'Alpha-H3', prompt: 'a boat' };
const keys = () => {
  let made = 0;
  return (): string => `key_${(made += 1)}`;
};
const making = (state: MakingState, prompt = 'a boat'): FormCreate => ({
  key: `key_of_${prompt}`,
  prompt,
  body: { ...order, prompt },
  state,
});

describe('the orders of a form', () => {
  test('are one for each copy, and copies with a seed differ', () => {
    expect(listOrders({ ...order, seed: 7 }, { copies: 2, isByLine: false })).toEqual([
      { ...order, seed: 7 },
      { ...order, seed: 8 },
    ]);
  });

  test('are one for each line that has a prompt', () => {
    const lines = { ...order, prompt: 'a boat\n\n  a kite \n' };

    expect(listOrders(lines, { copies: 1, isByLine: true }).map(({ prompt }) => prompt)).toEqual(['a boat', 'a kite']);
    expect(listOrders(lines, { copies: 2, isByLine: true })).toHaveLength(4);
    expect(listOrders(lines, { copies: 1, isByLine: false })).toEqual([lines]);
  });
});

const send = (...bodies: readonly object[]) => ({ bodies: bodies as readonly Order[], label: '' });

describe('the creates of a form', () => {
  test('have the label of the form, also those that go on under their keys', () => {
    const labelled = { bodies: [order], label: 'spring' };
    const [first] = planMakings([], labelled, keys());

    expect(first).toMatchObject({ key: 'key_1', label: 'spring' });
    expect(planMakings([{ ...first!, state: 'refused' }], { ...labelled, label: 'autumn' }, keys())).toEqual([
      { ...first, state: 'refused', label: 'autumn' },
    ]);
    expect(planMakings([{ ...first!, state: 'lost' }], send(order), keys())[0]).not.toHaveProperty('label');
  });

  test('have a key each', () => {
    expect(planMakings([], send(order, order), keys()).map(({ key }) => key)).toEqual(['key_1', 'key_2']);
  });

  test.each(['lost', 'refused', 'sent', 'ready'] as const)('keep their keys while one is %s', (state) => {
    const before = [making('made'), making(state, 'a kite')];
    const again = planMakings(before, send(order, { ...order, prompt: 'a kite' }), keys());

    expect(again).toEqual(before);
  });

  test('keep their keys while one was found that the form has not led to', () => {
    const before = [{ ...making('made'), isUntold: true }];

    expect(planMakings(before, send(order), keys())).toEqual(before);
  });

  test('are other ones once all are made, or when the form has changed', () => {
    expect(planMakings([making('made')], send(order), keys())).toMatchObject([{ key: 'key_1', state: 'ready' }]);
    expect(planMakings([making('lost')], send({ ...order, seed: 1 }), keys())).toMatchObject([{ key: 'key_1' }]);
  });

  test('are kept without a wait for an answer after a reload', () => {
    expect(keepMakings([making('sent'), making('made')]).map(({ state }) => state)).toEqual(['lost', 'made']);
  });

  test('are kept without their bodies if these are large', () => {
    const large = { ...making('lost'), body: { ...order, content: 'x'.repeat(200_001) } };

    expect(keepMakings([large])).toEqual([{ ...large, body: undefined }]);
  });
});

test.each([
  [400, true],
  [401, true],
  [429, true],
  [0, false],
  [408, false],
  [409, false],
  [502, false],
])('a fault with the status %s says that nothing was made: %s', (status, isSo) => {
  expect(isRefusal({ status })).toBe(isSo);
});

import { describe, expect, test } from '@jest/globals';
import { countRest, isRefusal, keepMakings, listOrders, planMakings, readCopies } from './making.ts';
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

const plan = (before: readonly FormCreate[], ...prompts: readonly string[]) =>
  planMakings(before, send(...prompts.map((prompt) => ({ ...order, prompt }))), keys());
const told = (makings: readonly FormCreate[]) => makings.map(({ key, state }) => [key, state]);

describe('the creates of a form', () => {
  test('have the label of the form, also those that go on under their keys', () => {
    const labelled = { bodies: [order], label: 'spring' };
    const [first] = planMakings([], labelled, keys()).planned;

    expect(first).toMatchObject({ key: 'key_1', label: 'spring' });
    expect(planMakings([{ ...first!, state: 'refused' }], { ...labelled, label: 'autumn' }, keys()).planned).toEqual([
      { ...first, state: 'refused', label: 'autumn' },
    ]);
    expect(planMakings([{ ...first!, state: 'lost' }], send(order), keys()).planned[0]).not.toHaveProperty('label');
  });

  test('have a key each', () => {
    expect(told(plan([], 'a boat', 'a boat').planned)).toEqual([
      ['key_1', 'ready'],
      ['key_2', 'ready'],
    ]);
  });

  test.each(['lost', 'refused', 'sent', 'made'] as const)('keep their keys and states when one is %s', (state) => {
    const before = [making('made'), making(state, 'a kite')];

    expect(plan(before, 'a boat', 'a kite')).toEqual({ earlier: [], planned: before });
  });

  test('that are made are not made again when a refused line is mended', () => {
    const before = [making('made', 'one'), making('made', 'two'), making('refused', 'thre'), making('ready', 'four')];
    const { earlier, planned } = plan(before, 'one', 'two', 'three', 'four');

    expect(told(planned)).toEqual([
      ['key_of_one', 'made'],
      ['key_of_two', 'made'],
      ['key_1', 'ready'],
      ['key_of_four', 'ready'],
    ]);
    expect(earlier).toEqual([]);
    expect(
      countRest(
        before,
        planned.map(({ body }) => body!),
      ),
    ).toBe(2);
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ['the lines change their order', ['two', 'one'], ['key_of_two made', 'key_of_one made']],
    ['a line comes before them', ['new', 'one', 'two'], ['key_1 ready', 'key_of_one made', 'key_of_two made']],
    ['a line is there twice', ['one', 'one', 'two'], ['key_of_one made', 'key_1 ready', 'key_of_two made']],
    ['a line goes', ['two'], ['key_of_two made']],
  ])('that are made are found again when %s', (_how, prompts, expected) => {
    const { planned } = plan([making('made', 'one'), making('made', 'two')], ...prompts);

    expect(told(planned).map((one) => one.join(' '))).toEqual(expected);
  });

  test('of a form that has changed have keys of their own, and what may have been made stays known', () => {
    const before = [making('lost', 'one'), making('made', 'two'), making('refused', 'three')];
    const { earlier, planned } = planMakings(before, send({ ...order, prompt: 'one', seed: 1 }), keys());

    expect(told(planned)).toEqual([['key_1', 'ready']]);
    expect(told(earlier)).toEqual([
      ['key_of_one', 'lost'],
      ['key_of_two', 'made'],
    ]);
    expect(told(plan([...earlier, ...planned], 'two').planned)).toEqual([['key_of_two', 'made']]);
  });

  test('without a body, which had files, are never taken for others', () => {
    const before = [{ ...making('made'), body: undefined }];

    expect(told(plan(before, 'a boat').planned)).toEqual([['key_1', 'ready']]);
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

test.each<[string, number | undefined]>([
  ['1', 1],
  ['4', 4],
  ['50', 50],
  ['', undefined],
  ['0', undefined],
  ['51', undefined],
  ['2.5', undefined],
  ['-3', undefined],
])('%j videos of each prompt are read as %s', (typed, copies) => {
  expect(readCopies(typed)).toBe(copies);
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sumDemands } from './counter-shards.ts';

const LIMIT = 100;
const CHANNELS = ['channel:a', 'channel:b'];
const TOKENS = 12;

/** The counters of a create of any token of a tree, with a channel or without one, or of one that takes none. */
interface Drawn {
  readonly parents: readonly number[];
  readonly batches: readonly (readonly {
    readonly token: number;
    readonly channel: number;
    readonly only: boolean;
  }[])[];
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  parents: fc.array(fc.nat({ max: TOKENS }), { minLength: TOKENS, maxLength: TOKENS }),
  batches: fc.array(
    fc.array(
      fc.record({
        token: fc.nat({ max: TOKENS - 1 }),
        channel: fc.nat({ max: CHANNELS.length }),
        only: fc.boolean(),
      }),
      { minLength: 1, maxLength: 8 },
    ),
    { minLength: 2, maxLength: 4 },
  ),
});

/** The token and its makers, the nearest first. A token is made by one with a lower number. */
function listLine(parents: readonly number[], token: number): readonly number[] {
  const parent = parents[token] ?? token;
  return parent >= token ? [token] : [token, ...listLine(parents, parent)];
}

function listCaps({ parents }: Drawn, { token, channel, only }: Drawn['batches'][number][number]) {
  const name = CHANNELS[channel];
  const tokens = listLine(parents, token).map((one) => `token:${one * 7919}`);
  const scopes = [...(only ? [] : [...tokens, 'total']), ...(name === undefined ? [] : [name])];
  return scopes.map((scope) => ({ scope, limit: LIMIT }));
}

/** Lists the pairs of counters of which one is locked before the other one. */
function listPairs(scopes: readonly string[]): readonly string[] {
  return scopes.flatMap((one, at) => scopes.slice(at + 1).map((other) => `${one} ${other}`));
}

describe('the counters of several creates', () => {
  test('are in one order in every transaction, of one create or of many', () => {
    fc.assert(
      fc.property(drawn, (all) => {
        const works = all.batches.map((batch) =>
          batch.map((one, index) => ({ id: `task_${index}`, caps: listCaps(all, one) })),
        );
        const orders = [...works, ...works.flat().map((work) => [work])].map((batch) =>
          sumDemands(batch).map(({ scope }) => scope),
        );
        const pairs = new Set(orders.flatMap(listPairs));
        const turned = [...pairs].filter((pair) => pairs.has(pair.split(' ').reverse().join(' ')));
        expect(turned).toEqual([]);
      }),
    );
  });

  test('are summed, and the lowest limit of a counter counts', () => {
    expect(
      sumDemands([
        {
          id: 'task_1',
          caps: [
            { scope: 'token:a', limit: 5 },
            { scope: 'total', limit: 9 },
          ],
        },
        { id: 'task_2', caps: [{ scope: 'channel:x', limit: 3 }] },
        {
          id: 'task_3',
          caps: [
            { scope: 'token:a', limit: 4 },
            { scope: 'total', limit: 9 },
            { scope: 'channel:x', limit: 3 },
          ],
        },
      ]),
    ).toEqual([
      { scope: 'token:a', limit: 4, count: 2 },
      { scope: 'total', limit: 9, count: 2 },
      { scope: 'channel:x', limit: 3, count: 2 },
    ]);
  });
});

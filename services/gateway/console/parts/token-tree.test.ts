import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Token } from '../api/tokens.ts';
import { countValidMade, orderTree } from './token-tree.tsx';

const NOW = 100;
const token = (id: string, madeByTokenId?: string, over: Partial<Token> = {}): Token => ({
  id,
  name: '',
  models: ['*'],
  used: { amount: '0', currency: 'USD' },
  limits: {},
  webhooks: 'none',
  tokens: 'none',
  queue: { wait: 'channels', class: 'standard' },
  createdAt: 0,
  isOwn: false,
  canRevoke: true,
  ...(madeByTokenId === undefined ? {} : { madeByTokenId }),
  ...over,
});
const isValid = ({ revokedAt, expiresAt = Infinity }: Token): boolean => revokedAt === undefined && expiresAt > NOW;
const shown = (tokens: readonly Token[]): string[] =>
  orderTree(tokens).map(({ token: { id }, depth }) => '-'.repeat(depth) + id);

describe('the order of tokens', () => {
  test.each<[string, Token[], string[]]>([
    ['keeps tokens that made nothing as they came', [token('b'), token('a')], ['b', 'a']],
    [
      'puts what a token made below it, through others too',
      [token('a'), token('b'), token('a1', 'a'), token('b1', 'b'), token('a11', 'a1'), token('a2', 'a')],
      ['a', '-a1', '--a11', '-a2', 'b', '-b1'],
    ],
    [
      'keeps a revoked maker above what it made',
      [token('a1', 'a'), token('a', undefined, { revokedAt: 1 })],
      ['a', '-a1'],
    ],
    ['puts a token whose maker is not listed at the top', [token('x', 'gone'), token('x1', 'x')], ['x', '-x1']],
    ['leaves out no token of a circle', [token('a', 'b'), token('b', 'a')], ['a', '-b']],
  ])('%s', (_, tokens, order) => {
    expect(shown(tokens)).toEqual(order);
  });

  test('has every token once, and each after its maker', () => {
    const lists = fc
      .array(fc.option(fc.nat(30), { nil: undefined }), { maxLength: 30 })
      .map((makers) => makers.map((maker, index) => token(`t${index}`, maker === undefined ? maker : `t${maker}`)))
      // as in the books: a maker is older than what it made
      .map((tokens) =>
        tokens.map((made, index) => (Number(made.madeByTokenId?.slice(1)) < index ? made : token(made.id))),
      )
      .chain((tokens) => fc.shuffledSubarray(tokens, { minLength: tokens.length }));
    fc.assert(
      fc.property(lists, (tokens) => {
        const placed = orderTree(tokens);
        const ids = placed.map(({ token: { id } }) => id);

        expect(ids.toSorted()).toEqual(tokens.map(({ id }) => id).toSorted());
        for (const [index, { token: made, depth, maker }] of placed.entries()) {
          expect(maker?.id).toBe(made.madeByTokenId);
          if (maker === undefined) continue;
          expect(ids.indexOf(maker.id)).toBeLessThan(index);
          expect(depth).toBe((placed[ids.indexOf(maker.id)]?.depth ?? Infinity) + 1);
        }
      }),
    );
  });
});

test.each([
  ['a', 2],
  ['a1', 1],
  ['b', 0],
  ['unknown', 0],
])('%s made %i tokens that can still be used', (id, count) => {
  const tokens = [
    token('a'),
    token('a1', 'a'),
    token('a11', 'a1'),
    token('a12', 'a1', { revokedAt: 5 }),
    token('a2', 'a', { expiresAt: NOW }),
    token('b'),
  ];

  expect(countValidMade(tokens, id, isValid)).toBe(count);
});

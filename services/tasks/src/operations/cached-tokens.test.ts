import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { TokenRights } from '../clients/tokens.ts';
import { newTokenCache } from './cached-tokens.ts';

const RIGHTS: TokenRights = {
  accountId: 'acme',
  models: ['*'],
  inFlight: undefined,
  wait: { for: 'channels', class: 'standard' },
  makers: [],
  expiresAt: undefined,
};

function opened(rights: Partial<TokenRights> = {}) {
  const [clock, asked] = [fakeClock(), [] as string[]];
  const answers: (() => Promise<TokenRights>)[] = [];
  const tokens = newTokenCache(async (tokenId) => {
    asked.push(tokenId);
    return (await answers.shift()?.()) ?? { ...RIGHTS, ...rights };
  }, clock);
  return { tokens, clock, asked, answers };
}

test('a change of a maker is read again with what it made', async () => {
  const maker = { tokenId: 'maker', inFlight: 1 };
  const { tokens, asked } = opened({ makers: [{ tokenId: 'between', inFlight: undefined }, maker] });
  await tokens.findRights('token_1', 'acme');
  tokens.drop('stranger');
  await tokens.findRights('token_1', 'acme');
  tokens.drop('maker');
  await tokens.findRights('token_1', 'acme');

  expect(asked).toEqual(['token_1', 'token_1']);
});

test('many calls ask billing once, until the answer is ten seconds old', async () => {
  const { tokens, clock, asked } = opened();
  await Promise.all([tokens.findRights('token_1', 'acme'), tokens.findRights('token_1', 'acme')]);
  await tokens.findRights('token_1', 'acme');
  expect(asked).toHaveLength(1);

  await clock.advance(10_001);
  await tokens.findRights('token_1', 'acme');
  expect(asked).toHaveLength(2);
});

test('a changed token is requested again, even while its answer is under way', async () => {
  const { tokens, asked, answers } = opened();
  const { promise, resolve } = Promise.withResolvers<TokenRights>();
  answers.push(() => promise);
  const early = tokens.findRights('token_1', 'acme');
  tokens.drop('token_1');
  resolve({ ...RIGHTS, models: ['old'] });
  await early;

  expect((await tokens.findRights('token_1', 'acme')).models).toEqual(['*']);
  tokens.drop('token_1');
  await tokens.findRights('token_1', 'acme');
  expect(asked).toHaveLength(3);
});

test('a refusal is not cached', async () => {
  const { tokens, answers } = opened();
  answers.push(async () => {
    throw new Error('no');
  });

  await expect(tokens.findRights('token_1', 'acme')).rejects.toThrow('no');
  expect(await tokens.findRights('token_1', 'acme')).toEqual(RIGHTS);
});

test('a token of another account is not found, and a cached token that expires is refused', async () => {
  const { tokens, clock } = opened({ expiresAt: fakeClock().now() + 1000 });
  await expect(tokens.findRights('token_1', 'rival')).rejects.toMatchObject({
    reason: 'token_not_found',
    field: 'token_id',
  });
  await tokens.findRights('token_1', 'acme');
  await clock.advance(1000);

  await expect(tokens.findRights('token_1', 'acme')).rejects.toMatchObject({
    kind: 'forbidden',
    reason: 'token_disabled',
  });
});

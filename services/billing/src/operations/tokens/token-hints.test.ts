import { expect, test } from '@jest/globals';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

const LONG_KEY = 'a-key-of-the-configuration-zz99';
const SHORT_KEY = 'sk-short-0123456789';

const make = async ({ accounts }: TestBilling): Promise<{ readonly id: string; readonly key: string }> => {
  const { token, key } = await accounts.createToken({ accountId: 'demo', models: ['*'] });
  return { id: token!.id, key };
};
const find = async ({ accounts }: TestBilling, hint: string, accountId = ''): Promise<readonly string[]> =>
  (await accounts.listTokens({ hint, accountId })).tokens.map(({ id }) => id);

describeOnEngines('the hint of a token', (open) => {
  test('is the end of its key, and finds it and no other, also when it has ended', async () => {
    const on = await open(aConfig());
    const [one, other] = [await make(on), await make(on)];
    const hint = one.key.slice(-4);
    await on.accounts.revokeToken({ id: one.id });

    expect(await find(on, hint)).toEqual(hint === other.key.slice(-4) ? [one.id, other.id] : [one.id]);
    expect(await find(on, hint, 'demo')).toContain(one.id);
    expect(await find(on, hint, 'rival')).toEqual([]);
    expect(await find(on, '????')).toEqual([]);
  });

  test.each([
    [LONG_KEY, 'zz99'],
    [SHORT_KEY, ''],
  ])('of the configured key %s is %j: a part of a short key would give it away', async (key, expected) => {
    const on = await open(aConfig({ key }));

    expect((await on.accounts.listTokens({})).tokens.map(({ hint }) => hint)).toEqual([expected]);
  });

  test.each(['abc', 'abcde', 'a cd'])('that no key can have is refused: %j', async (hint) => {
    const on = await open(aConfig());

    await expect(find(on, hint)).rejects.toMatchObject({ field: 'hint' });
  });
});

describeOnEngines('the id of a token', (open) => {
  test('finds it and no other, also when it has ended, and not for another account or another end of a key', async () => {
    const on = await open(aConfig());
    const [{ id, key }] = [await make(on), await make(on)];
    await on.accounts.revokeToken({ id });
    const list = async (question: { readonly accountId?: string; readonly hint?: string }) =>
      (await on.accounts.listTokens({ id, ...question })).tokens.map((token) => token.id);

    expect(await list({})).toEqual([id]);
    expect(await list({ accountId: 'demo', hint: key.slice(-4) })).toEqual([id]);
    expect(await list({ accountId: 'rival' })).toEqual([]);
    expect(await list({ hint: '????' })).toEqual([]);
    expect((await on.accounts.listTokens({ id: 'token_unknown' })).tokens).toEqual([]);
  });
});

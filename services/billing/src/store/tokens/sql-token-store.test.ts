import { expect, test } from '@jest/globals';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { newAct } from '../acts/act-store.ts';
import { sqlActs } from '../acts/sql-acts.ts';
import { sqlTokenStore } from './sql-token-store.ts';
import type { NewToken } from './token-store.ts';

const ALL = { limit: 10, after: '', subject: '' };

describeOnEngines('a token whose key is taken', (open) => {
  test.each(['an operator', 'another token'])('is not added by %s, and records no act', async (maker) => {
    const on = await open();
    const tokens = sqlTokenStore(on.sql);
    const known = await tokens.find(on.tokenId);
    if (known === undefined) throw new Error('the configured token is missing');
    const made: NewToken = { token: { ...known, id: 'token_new' }, keyHashes: ['hash'], origin: undefined };
    const act = (id: string) =>
      newAct(() => id, { at: 1, actor: 'ann', action: 'token_created', subject: id, detail: {} });
    const add = (token: NewToken, id: string): Promise<boolean> =>
      maker === 'an operator' ? tokens.insert(token, act(id)) : tokens.insertBy(on.tokenId, token, () => act(id));

    expect(await add(made, 'act_1')).toBe(true);
    expect(await add({ ...made, token: { ...made.token, id: 'token_newer' } }, 'act_2')).toBe(false);

    expect(await tokens.find('token_newer')).toBeUndefined();
    expect((await sqlActs(on.sql).list(ALL)).map(({ id }) => id)).toEqual(['act_1']);
  });
});

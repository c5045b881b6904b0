import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { TokenSchema } from '@reelgate/proto/billing/v1/account_service';
import type { SearchAnswer } from '../../../console/api/operator-search.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

const aToken = (id: string, hint: string, name: string) => create(TokenSchema, { id, accountId: 'demo', hint, name });

let asked: string[];
let fault: Problem | undefined;
let console: OperatorUnderTest;
beforeEach(async () => {
  asked = [];
  fault = undefined;
  console = await startOperatorUnderTest({
    operator: {
      accounts: {
        listAccounts: async () => ({ accounts: [] }),
        listTokens: async ({ hint }) => {
          asked.push(hint);
          if (fault !== undefined) throw fault;
          return { tokens: hint === 'a1b2' ? [aToken('token_1', hint, 'main')] : [] };
        },
      },
    },
  });
});
afterEach(() => console.stop());

const search = async (value: string) =>
  (await console.as('viewer', 'GET', `/search?q=${encodeURIComponent(value)}`)).json as SearchAnswer;

test.each(['a1b2', '…a1b2', '...a1b2', ' a1b2 '])(
  'the end of a key finds its token, and leads there: %j',
  async (value) => {
    const { found, href } = await search(value);

    expect(found.filter(({ kind }) => kind === 'token')).toEqual([
      {
        kind: 'token',
        id: 'token_1',
        by: 'hint',
        href: '/console/accounts/demo#token_1',
        accountId: 'demo',
        text: 'main',
      },
    ]);
    expect(href).toBe('/console/accounts/demo#token_1');
  },
);

test.each(['a1b', 'a1b23', 'red kite', 'früh'])(
  'no token is looked for by %j, which is no end of a key',
  async (value) => {
    await search(value);

    expect(asked).toEqual([]);
  },
);

test('tokens that cannot be searched now are named', async () => {
  fault = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'it cannot be reached' });

  expect((await search('a1b2')).unavailable).toContain('tokens');
});

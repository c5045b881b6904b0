import { beforeEach, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { COMMANDS } from '../command-table.ts';
import type { Outcome } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { parseCall } from '../parse-call.ts';

const TOKENS = [
  { id: 'maker', accountId: 'acme' },
  { id: 'made', accountId: 'acme', madeByTokenId: 'maker' },
  { id: 'made-by-made', accountId: 'acme', madeByTokenId: 'made' },
  { id: 'stranger', accountId: 'acme' },
];
const REASON = 'the token is revoked';
/** How often the fake service answers that more tasks wait. */
const FULL_ANSWERS = 2;
const CANCELS_MAX = 200;
let fullAnswers = FULL_ANSWERS;
beforeEach(() => {
  fullAnswers = FULL_ANSWERS;
});

interface RevokeResult {
  readonly outcome: Outcome;
  /** What was asked of the queue, in order. */
  readonly asked: readonly object[];
}

async function revoke(...args: string[]): Promise<RevokeResult> {
  const asked: object[] = [];
  const accounts = partialService(AccountService, {
    revokeToken: async ({ id }) => ({ token: { id, accountId: 'acme' }, madeRevoked: 2 }),
    listTokens: async ({ accountId }) => ({ tokens: TOKENS.filter((token) => token.accountId === accountId) }),
  });
  const queue = partialService(QueueService, {
    cancelQueued: async ({ accountId, tokenId, reason, actor }) => {
      asked.push({ accountId, tokenId, reason, actor });
      return { cancelled: 3, hasMore: asked.length <= fullAnswers };
    },
  });
  const { name = '', words, options } = parseCall(['token', 'revoke', ...args, '--actor', 'ann'], COMMANDS);
  const outcome = await COMMANDS[name]!.run({
    words,
    options: options as never,
    services: {
      accounts: directClient(AccountService, accounts, aCaller()),
      queue: directClient(QueueService, queue, aCaller()),
    } as Services,
    environment: {},
    terminal: { columns: undefined } as never,
    json: true,
    print: () => undefined,
  });
  return { outcome, asked };
}

test('token revoke leaves what waits alone without --cancel-waiting', async () => {
  const { outcome, asked } = await revoke('maker');

  expect(asked).toEqual([]);
  expect(outcome.answer).not.toHaveProperty('waiting');
});

test('token revoke --cancel-waiting ends what waits of the token until none is left, and counts it', async () => {
  const { outcome, asked } = await revoke('maker', '--cancel-waiting');

  const call = { accountId: 'acme', tokenId: 'maker', reason: REASON, actor: 'ann' };
  expect(asked).toEqual(Array.from({ length: FULL_ANSWERS + 1 }, () => call));
  expect(outcome.answer).toMatchObject({ token: { id: 'maker' }, waiting: { cancelled: 9, hasMore: false } });
});

test('it ends after a bound of calls, and says that more wait', async () => {
  fullAnswers = Infinity;
  const { outcome, asked } = await revoke('maker', '--cancel-waiting');

  expect(asked).toHaveLength(CANCELS_MAX);
  expect(outcome.answer).toMatchObject({ waiting: { cancelled: 3 * CANCELS_MAX, hasMore: true } });
});

test('with --with-made it ends what waits of all that the token made too', async () => {
  const { outcome, asked } = await revoke('maker', '--with-made', '--cancel-waiting');

  expect(asked.map((call) => (call as { tokenId: string }).tokenId)).toEqual([
    ...Array.from({ length: FULL_ANSWERS + 1 }, () => 'maker'),
    'made',
    'made-by-made',
  ]);
  expect(outcome.answer).toMatchObject({ madeRevoked: 2, waiting: { cancelled: 15 } });
});

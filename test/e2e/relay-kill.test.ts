import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { moneyAccount } from '../harness/relay-config.ts';
import { startRelayProgram } from '../harness/relay-program.ts';
import type { Money, RelayProgram } from '../harness/relay-program.ts';

const START_TIMEOUT_MS = 120_000;
const TEST_TIMEOUT_MS = 120_000;
/** What a call of the upstream's usage costs, and what it holds. */
const [USED, HOLD] = [25_000_000n, 500_000_000n];
const chat = (content: string): object => ({ model: 'solo', messages: [{ role: 'user', content }] });
const CREDIT = 10_000_000_000n;
const CLIENTS = 8;
const KILLS = 3;
const ANSWERS_BEFORE_KILL = 20n;
/** What a kill cuts off stays held for long, so each kill has an account of its own. */
const accountsOf = (name: string): readonly string[] => Array.from({ length: KILLS }, (_, kill) => `${name}-${kill}`);
/** The hold of a chat is too large to be placed beside its call; that of a reranking is small. */
const CALLS = [
  {
    order: 'after their holds',
    accounts: accountsOf('killed'),
    path: '/v1/chat/completions',
    body: chat('x'),
    used: USED,
    hold: HOLD,
  },
  {
    order: 'beside their holds',
    accounts: accountsOf('beside'),
    path: '/v1/rerank',
    body: { model: 'solo', query: 'x', documents: ['y'] },
    used: 2_000_000n,
    hold: 2_000_000n,
  },
] as const;

let relay: RelayProgram;
beforeAll(async () => {
  relay = await startRelayProgram({ accounts: [...CALLS.flatMap(({ accounts }) => accounts), 'hanging', 'limited'] });
}, START_TIMEOUT_MS);
afterAll(async () => {
  await relay?.end();
}, START_TIMEOUT_MS);

const send = (account: string, body: object, path = '/v1/chat/completions'): Promise<Response> =>
  fetch(`${relay.program.base}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${moneyAccount(account).key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const isSound = async (): Promise<boolean> => {
  const { json } = await relay.program.command('ledger', 'verify');
  return (json as { readonly ok: boolean }).ok;
};
/** The connection of the test to billing needs a moment after a restart. */
const moneyOf = async (account: string): Promise<Money> => {
  let money: Money | undefined;
  await until(async () => {
    money = await relay.money(account).catch(() => undefined);
    return money !== undefined;
  });
  return money ?? { spent: 0n, held: 0n };
};
const restart = async (): Promise<void> => {
  await relay.program.stop('SIGKILL');
  await relay.program.start();
};

test.each(CALLS)(
  'no kill of the program gives a client an answer that is neither charged nor held: calls are sent $order',
  async ({ accounts, path, body, used, hold }) => {
    for (const account of accounts) {
      let answers = 0n;
      let isOver = false;
      const clients = Array.from({ length: CLIENTS }, async () => {
        while (!isOver) {
          const status = await send(account, body, path).then(
            async (answer) => answer.text().then(() => answer.status),
            () => 0,
          );
          if (status === 200) answers += 1n;
        }
      });
      await until(() => answers >= ANSWERS_BEFORE_KILL);
      isOver = true;
      await restart();
      await Promise.all(clients);

      const { spent, held } = await moneyOf(account);
      expect(spent + (held / hold) * used).toBeGreaterThanOrEqual(answers * used);
      expect(spent + held).toBeLessThanOrEqual(CREDIT);
      expect(await isSound()).toBe(true);
    }
  },
  TEST_TIMEOUT_MS,
);

test(
  'a call that a kill cuts off before its answer keeps its hold until it lapses, and its account can go on',
  async () => {
    const cut = send('hanging', chat('[mark:hanging][slow:60000]')).then(
      () => 'answered',
      () => 'cut off',
    );
    await until(() => relay.upstream.marked('hanging').length === 1);
    await restart();

    expect(await cut).toBe('cut off');
    expect(await moneyOf('hanging')).toEqual({ spent: 0n, held: HOLD });
    expect((await send('hanging', chat('x'))).status).toBe(200);
    expect(await isSound()).toBe(true);
  },
  TEST_TIMEOUT_MS,
);

test(
  'a kill gives a channel no second minute: what it was given before still counts',
  async () => {
    const asks = async (): Promise<number> => (await send('limited', { ...chat('x'), model: 'limited' })).status;
    expect([await asks(), await asks(), await asks()]).toEqual([200, 200, 429]);
    await restart();

    expect(await asks()).toBe(429);
  },
  TEST_TIMEOUT_MS,
);

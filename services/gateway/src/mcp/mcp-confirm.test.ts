import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { LINES, connectAgent } from '../../testing/mcp-agents.ts';
import type { Agent, AgentOptions, Line } from '../../testing/mcp-agents.ts';

const KEY = 'rg_token-that-asks';
/** The fake quotes 0.40. */
const ORDER = { model: 'Alpha-H3', prompt: 'a boat', max_amount: '2', currency: 'USD', idempotency_key: 'key-1' };

let under: GatewayUnderTest;
const agents: Agent[] = [];
beforeEach(async () => {
  under = await startGatewayUnderTest();
  under.billing.tokens.set(KEY, { tokenId: 'token_1', confirmAboveNanos: 300_000_000n });
  under.billing.tokens.set('rg_token-of-another', { tokenId: 'token_2', confirmAboveNanos: 300_000_000n });
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()));
  await under.stop();
});

const connect = async (line: Line, options: AgentOptions = {}): Promise<Agent> => {
  const agent = await connectAgent(line, under.url, { token: KEY, ...options });
  agents.push(agent);
  return agent;
};
const bounds = (): unknown[] => under.tasks.creates.map(({ maxAmountNanos }) => maxAmountNanos);

describe.each(LINES)('an agent with the client %s, which cannot ask,', (line) => {
  test('is told to ask its user, and orders with the confirmation for that amount alone', async () => {
    const agent = await connect(line);
    const refused = await agent.call('video_create', ORDER);
    const { confirmation, ...money } = refused.structuredContent.error.metadata as Record<string, string>;
    const before = bounds();
    const created = await agent.call('video_create', { ...ORDER, confirmation });

    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'confirmation_required', retryable: false } },
    });
    expect(refused.content[1]?.text).toContain('repeat the call with exactly the same arguments and with confirmation');
    expect([money, before]).toEqual([{ amount: '0.4', currency: 'USD' }, []]);
    expect(created.isError).toBeUndefined();
    expect(bounds()).toEqual([400_000_000n]);
  });
});

describe('an agent that asks its user', () => {
  test.each([
    ['accept', [400_000_000n], undefined],
    ['decline', [], 'confirmation_required'],
    ['cancel', [], 'confirmation_required'],
  ] as const)('whose answer is %s', async (action, held, code) => {
    const asked: string[] = [];
    const agent = await connect('2.x', { answer: (question) => (asked.push(question), action) });
    const { structuredContent } = await agent.call('video_create', ORDER);

    expect(asked).toEqual(['This video costs 0.4 USD. Order it?']);
    expect(bounds()).toEqual(held);
    expect(structuredContent.error?.code).toBe(code);
    expect(under.tasks.tasks.size).toBe(held.length);
  });
  test('is not asked about an order that exists already', async () => {
    const asked: string[] = [];
    const agent = await connect('2.x', { answer: (question) => (asked.push(question), 'accept') });
    const first = await agent.call('video_create', ORDER);
    const again = await agent.call('video_create', ORDER);

    expect(again.structuredContent).toEqual(first.structuredContent);
    expect(asked).toHaveLength(1);
  });
  test('is not asked about an order that would be refused', async () => {
    const asked: string[] = [];
    under.tasks.refuse(
      'checkOrder',
      new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'no credit' }),
    );
    const agent = await connect('2.x', { answer: (question) => (asked.push(question), 'accept') });

    expect((await agent.call('video_create', ORDER)).structuredContent.error.code).toBe('insufficient_quota');
    expect(asked).toEqual([]);
  });
});

describe('a confirmation', () => {
  const confirm = async (agent: Agent): Promise<string> =>
    (await agent.call('video_create', ORDER)).structuredContent.error.metadata.confirmation as string;

  test.each([
    ['for other arguments', { prompt: 'another boat' }],
    ['for another key', { idempotency_key: 'key-2' }],
  ])('is worth nothing %s', async (_what, other) => {
    const agent = await connect('1.x');
    const confirmation = await confirm(agent);
    const refused = await agent.call('video_create', { ...ORDER, ...other, confirmation });

    expect(refused.structuredContent.error.code).toBe('confirmation_required');
    expect(bounds()).toEqual([]);
  });
  test('is worth nothing for another token, when it is changed, and after five minutes', async () => {
    const agent = await connect('1.x');
    const confirmation = await confirm(agent);
    const other = await connect('1.x', { token: 'rg_token-of-another' });
    const codes = [
      (await other.call('video_create', { ...ORDER, confirmation })).structuredContent.error.code,
      (await agent.call('video_create', { ...ORDER, confirmation: confirmation.replace('400000000', '900000000') }))
        .structuredContent.error.code,
      (await agent.call('video_create', { ...ORDER, confirmation: 'yes' })).structuredContent.error.code,
    ];
    await under.clock.advance(5 * 60_000 + 1);
    codes.push((await agent.call('video_create', { ...ORDER, confirmation })).structuredContent.error.code);

    expect(codes).toEqual(Array(4).fill('confirmation_required'));
    expect(bounds()).toEqual([]);
  });
});

describe('no confirmation is needed', () => {
  test('while max_amount is not above confirm_above', async () => {
    const agent = await connect('1.x');
    await agent.call('video_create', { ...ORDER, max_amount: '0.3' });

    expect(bounds()).toEqual([300_000_000n]);
    expect(under.tasks.calls).not.toContain('estimateOrder');
  });
  test('for a price below it; the order is bound by it, so that a price which rises meanwhile is refused', async () => {
    under.billing.tokens.set(KEY, { tokenId: 'token_1', confirmAboveNanos: 400_000_000n });
    const agent = await connect('1.x');
    const created = await agent.call('video_create', ORDER);

    expect(created.isError).toBeUndefined();
    expect(bounds()).toEqual([400_000_000n]);
  });
  test('for a token without it', async () => {
    under.billing.tokens.set(KEY, { tokenId: 'token_1' });
    const agent = await connect('1.x');
    await agent.call('video_create', ORDER);

    expect(bounds()).toEqual([2_000_000_000n]);
  });
  test('confirm_above of zero asks for every order that has a price', async () => {
    under.billing.tokens.set(KEY, { tokenId: 'token_1', confirmAboveNanos: 0n });
    const agent = await connect('1.x');

    expect((await agent.call('video_create', ORDER)).structuredContent.error.code).toBe('confirmation_required');
  });
});

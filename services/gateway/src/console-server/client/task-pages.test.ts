import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { FailureCause, TaskState } from '@reelgate/proto/tasks/v1/task';
import { TimelineStep } from '@reelgate/proto/tasks/v1/timeline';
import { WebhookDeliveryState } from '@reelgate/proto/tasks/v1/webhook';
import { CREATED_MS, TASK_ID, aCompletedTask, aTask, anOrder } from '../../../testing/a-task.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { signIn } from '../../../testing/signed-in.ts';
import type { SignedIn } from '../../../testing/signed-in.ts';

const away = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'it cannot be reached' });
const OTHER_ID = 'task_0123456789abcdefghjkmnpqr0';
const USD = (amount: string) => ({ amount, currency: 'USD' });

let under: GatewayUnderTest;
let page: SignedIn;
beforeEach(async () => {
  under = await startGatewayUnderTest();
  page = await signIn(under);
});
afterEach(() => under.stop());

const keep = (task = aCompletedTask()): void => {
  under.tasks.tasks.set(`${task.accountId}/${task.id}`, task);
};
const holdOf = (over: { readonly accountId?: string; readonly isSettled?: boolean } = {}): void => {
  const { accountId = 'demo', isSettled = true } = over;
  const at = timestampFromMs(CREATED_MS);
  const line = (eventKey: string, book: string, amountNanos: bigint) => ({ eventKey, book, amountNanos, at });
  under.books.addHold({
    hold: {
      taskId: TASK_ID,
      accountId,
      amountNanos: 400_000_000n,
      currency: 'USD',
      contract: 'Alpha-H3',
      version: 1,
      facts: { seconds: 5n },
      placedAt: at,
    },
    ...(isSettled
      ? {
          settlement: {
            amountNanos: 320_000_000n,
            basis: Basis.USAGE,
            settledAt: timestampFromMs(CREATED_MS + 90_000),
          },
        }
      : {}),
    lines: [
      line(`hold:${TASK_ID}`, `held:${accountId}`, 400_000_000n),
      line(`settle:${TASK_ID}`, 'revenue', 320_000_000n),
    ],
    upstreamCost: { reportedMicroUsd: 270_123n, estimatedNanos: 280_456_000n },
  });
};

describe('the page of a task', () => {
  beforeEach(() => {
    keep();
    holdOf();
    under.tasks.timelines.set(TASK_ID, {
      tokenId: 'token-of-another',
      requestId: 'req_1',
      entries: [
        { step: TimelineStep.CREATED, from: timestampFromMs(CREATED_MS), to: timestampFromMs(CREATED_MS) },
        { step: TimelineStep.IN_PROGRESS, from: timestampFromMs(CREATED_MS + 5000) },
      ],
    });
    under.books.tokenNames.set('token-of-another', 'the other');
    under.webhooks.addDelivery({
      id: 'whd_1',
      subjectId: TASK_ID,
      state: WebhookDeliveryState.DELIVERED,
      attempts: [{ number: 1, at: timestampFromMs(CREATED_MS + 95_000), durationMs: 40n, statusCode: 204 }],
    });
  });

  test('has its order, video, money, life and deliveries in one read', async () => {
    const { status, json } = await page.get(`/tasks/${TASK_ID}`);

    expect(status).toBe(200);
    expect(json).toMatchObject({
      task: { id: TASK_ID, state: 'completed', fullPrompt: 'a red boat', tokenName: 'the other', requestId: 'req_1' },
      video: { src: `/console/api/v1/videos/${TASK_ID}/content`, width: 1344, durationMs: 5167 },
      money: {
        held: USD('0.4'),
        charged: USD('0.32'),
        returned: USD('0.08'),
        basis: 'usage',
        facts: { seconds: 5 },
        terms: { per_second: { '768P': '0.08' } },
        lines: [{ event: 'hold', book: 'held', amount: '0.4' }],
      },
      timeline: [
        { lane: 'service', step: 'created' },
        { lane: 'money', step: 'held', detail: '0.4 USD' },
        { lane: 'upstream', step: 'in_progress' },
        { lane: 'money', step: 'settled', detail: '0.32 USD' },
        { lane: 'client', step: 'webhook', detail: '204' },
      ],
      deliveries: [{ id: 'whd_1', attempts: [{ number: 1, statusCode: 204 }] }],
      canCancel: false,
      canRegenerate: true,
      unavailable: [],
    });
    expect(json.timeline[2].to).toBeUndefined();
  });

  test('shows the same status as a program reads', async () => {
    const [{ json }, read] = [
      await page.get(`/tasks/${TASK_ID}`),
      await call(under.url, 'GET', `/v1/videos/${TASK_ID}`),
    ];

    expect(JSON.stringify(json.raw)).toBe(read.text);
  });

  test('says nothing of what the upstream charged', async () => {
    const { text } = await page.get(`/tasks/${TASK_ID}`);

    expect(text).toContain('0.32');
    // its own cost stands in the status that a program reads
    expect(text.replace('"cost":0.32', '')).not.toMatch(/cost|270.?123|280.?456/i);
  });

  test('has no deliveries for a token that may not read webhooks', async () => {
    under.billing.tokens.set('token-without-webhooks', { webhooks: WebhookRight.NONE });
    const { json } = await (await signIn(under, 'token-without-webhooks')).get(`/tasks/${TASK_ID}`);

    expect([json.deliveries, json.unavailable]).toEqual([[], []]);
    expect(under.webhooks.calls).toEqual([]);
  });

  test('is 404 for another account, and nothing else is read', async () => {
    under.billing.tokens.set('token-of-other', { accountId: 'other' });
    const { status, json } = await (await signIn(under, 'token-of-other')).get(`/tasks/${TASK_ID}`);

    expect([status, json.error.code]).toEqual([404, 'task_not_found']);
    expect(under.tasks.calls).toEqual(['getTask']);
  });

  test('names the parts that cannot be read now, and shows the others', async () => {
    under.books.fault = away;
    under.tasks.refuse('getTaskTimeline', away);
    under.webhooks.refuse('list_about', away);
    const { status, json } = await page.get(`/tasks/${TASK_ID}`);

    expect([status, json.task.id, json.unavailable]).toEqual([200, TASK_ID, ['money', 'timeline', 'deliveries']]);
  });

  test('never has the hold of another account', async () => {
    holdOf({ accountId: 'other' });

    expect((await page.get(`/tasks/${TASK_ID}`)).json.money).toBeUndefined();
  });

  test('has no video once its result has expired', async () => {
    keep(aCompletedTask({ expiresAt: timestampFromMs(0) }));
    const { json } = await page.get(`/tasks/${TASK_ID}`);

    expect([json.video, json.task.thumbnail, json.canRegenerate]).toEqual([undefined, undefined, false]);
  });
});

describe('the list of tasks', () => {
  test('has a row and a charge for each task', async () => {
    keep();
    holdOf({ isSettled: false });
    const { json } = await page.get('/tasks');

    expect(json.tasks).toMatchObject([
      { id: TASK_ID, kind: 'generation', state: 'completed', seconds: 5, charge: { held: USD('0.4') } },
    ]);
    expect(json.tasks[0].charge.charged).toBeUndefined();
    expect(json.models).toEqual(['Alpha-H3', 'Beta-V1']);
  });

  test('cuts a prompt between characters', async () => {
    const prompt = `a${'🚤'.repeat(200)}`;
    keep(aTask({ order: anOrder({ content: [{ item: { case: 'text', value: prompt } }] }) }));

    expect((await page.get('/tasks')).json.tasks[0].prompt).toBe(`a${'🚤'.repeat(119)}`);
  });

  test.each<[string, object]>([
    ['', { states: [] }],
    ['state=running', { states: [TaskState.QUEUED, TaskState.IN_PROGRESS] }],
    [
      'state=failed&kind=context_ir&model=Alpha-H3',
      { states: [TaskState.FAILED], kind: TaskKind.CONTEXT_IR, model: 'Alpha-H3' },
    ],
    [
      'from=2026-01-01&to=1767312000000',
      { createdFrom: timestampFromMs(CREATED_MS), createdBefore: timestampFromMs(1_767_312_000_000) },
    ],
    ['to=2026-01-01', { createdBefore: timestampFromMs(Date.UTC(2026, 0, 2)) }],
    [`find=${TASK_ID}&state=failed`, { taskIds: [TASK_ID], states: [] }],
    [`after=${OTHER_ID}`, { after: OTHER_ID, countMax: 0 }],
    ['find=red%20kit&state=completed', { words: 'red kit', states: [TaskState.COMPLETED], countMax: 1000 }],
    ['find=%C3%A9t%C3%A9&token=token-1', { words: 'été', tokenId: 'token-1' }],
  ])('asks for what its query says: %s', async (query, asked) => {
    await page.get(`/tasks?${query}`);

    expect(under.tasks.lists).toMatchObject([{ accountId: 'demo', inSteps: true, limit: 50, ...asked }]);
  });

  test.each([
    ['state=done', 'state'],
    ['from=yesterday', 'from'],
    [`find=${'x'.repeat(501)}`, 'find'],
    ['after=%27', 'after'],
  ])('refuses %s', async (query, field) => {
    const { status, json } = await page.get(`/tasks?${query}`);

    expect([status, json.error.param]).toEqual([400, field]);
  });

  test('takes a text that can be a key for words if it is none', async () => {
    const { json } = await page.get('/tasks?find=kite');

    expect(under.tasks.lists).toMatchObject([
      { idempotencyKey: 'kite', words: '' },
      { idempotencyKey: '', words: 'kite' },
    ]);
    expect(json.total).toEqual({ count: 0, isLeast: false });
  });

  test('has the names of the tokens that the visitor may see', async () => {
    expect((await page.get('/tasks')).json.tokens).toHaveLength(1);
  });

  test('is narrowed by a label, which its rows show', async () => {
    keep(aTask({ label: 'spring' }));
    keep(aTask({ id: OTHER_ID }));
    const [all, narrowed] = [await page.get('/tasks'), await page.get('/tasks?label=spring')];

    expect(all.json.tasks).toHaveLength(2);
    expect(narrowed.json.tasks).toMatchObject([{ id: TASK_ID, label: 'spring' }]);
  });

  test('is shown without charges while they cannot be read', async () => {
    keep();
    under.books.fault = away;
    const { status, json } = await page.get('/tasks');

    expect([status, json.tasks.length, json.tasks[0].charge]).toEqual([200, 1, undefined]);
  });
});

describe('the failure of a task', () => {
  test.each([
    [FailureCause.ORDER, 'order'],
    [FailureCause.SERVICE, 'service'],
    [FailureCause.UNSPECIFIED, undefined],
  ])('has the cause %s in the page and not in the answer of a program', async (cause, shown) => {
    keep(aTask({ state: TaskState.FAILED, failure: { code: 'x', message: 'y', cause } }));
    const { json } = await page.get(`/tasks/${TASK_ID}`);

    expect([json.task.failure.cause, json.raw.error]).toEqual([shown, { code: 'x', message: 'y' }]);
  });
});

describe('the home page', () => {
  test('has the money, the running tasks, the failures and the last videos', async () => {
    keep();
    keep(aTask({ id: OTHER_ID }));
    keep(aTask({ id: 'task_failed', state: TaskState.FAILED, failure: { code: 'moderation', message: 'refused' } }));
    const { json } = await page.get('/home');

    expect(json.money).toMatchObject({
      balance: USD('100'),
      held: USD('3'),
      free: USD('97'),
      spent30Days: USD('0.73'),
    });
    expect(json).toMatchObject({
      running: [{ id: OTHER_ID }],
      failures: [{ id: 'task_failed' }],
      recent: [{ id: TASK_ID }],
    });
    expect(json.limits).toContainEqual({ name: 'creates_per_minute', limit: 100_000 });
  });

  test('is shown without money while it cannot be read', async () => {
    keep();
    under.books.fault = away;
    const { status, json } = await page.get('/home');

    expect([status, json.money, json.recent.length]).toEqual([200, undefined, 1]);
  });
});

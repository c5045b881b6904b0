import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import { Problem } from '@reelgate/platform/problem';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { TASK_ID, aCompletedTask, aTask } from '../../../testing/a-task.ts';
import { TOKEN } from '../../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { BOAT, brief } from '../../../testing/order-summary.ts';

const PATH = '/api/v1/videos';
const PUBLIC_URL = 'https://media.example/behind/a/path';
const order = { model: 'Alpha-H3', prompt: 'a boat', duration: 5 };

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest({ publicUrl: PUBLIC_URL });
});
afterAll(() => under.stop());
beforeEach(() => {
  under.tasks.calls.length = 0;
  under.tasks.creates.length = 0;
});

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  call(under.url, 'POST', PATH, { body, headers });
const problem = (kind: Problem['kind'], reason: string, retryAfterMs?: number) =>
  new Problem({ kind, reason, message: 'no', retryAfterMs });

describe('a create', () => {
  test('is accepted with the whole address of its read, and a replay has the same bytes', async () => {
    const key = { 'idempotency-key': 'openrouter' };
    const [first, again] = [await post(order, key), await post(order, key)];

    const { id } = first.json;
    expect([first.status, first.json]).toEqual([
      202,
      { id, polling_url: `${PUBLIC_URL}/api/v1/videos/${id}`, status: 'pending' },
    ]);
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([202, first.text, 'true']);
    expect(under.tasks.calls).toEqual(['createTask', 'createTask']);
  });

  test('is one call with the decoded order, its label and what stands beside it', async () => {
    const beside = { webhook_url: 'https://studio.example/hook', max_amount: '0.40', currency: 'USD' };
    await post({ ...order, ...beside }, { 'reelgate-label': 'spring' });

    const [created] = under.tasks.creates;
    expect(created).toMatchObject({
      label: 'spring',
      webhookUrl: beside.webhook_url,
      maxAmountNanos: 400_000_000n,
      currency: 'USD',
    });
    expect(brief(created!.order!)).toEqual(BOAT);
  });

  test('that no generator takes as it is, is refused with the right field of this dialect', async () => {
    under.tasks.refuse(
      'createTask',
      new Problem({ kind: 'invalid', reason: 'unknown_field', field: 'seconds', message: 'is an unknown field' }),
    );

    const { status, json } = await post({ ...order, seconds: 5 });
    expect([status, json]).toEqual([
      400,
      {
        error: {
          code: 400,
          message: 'seconds is an unknown field; send duration',
          metadata: { reason: 'unknown_field', param: 'seconds' },
        },
      },
    ]);
  });

  test.each<[string, Error, number, string | undefined, string | undefined]>([
    ['no balance: its clients know 402', problem('exhausted', 'insufficient_quota', 1000), 402, 'false', undefined],
    ['a limit: after the named time', problem('exhausted', 'too_many_tasks', 1200), 429, undefined, '2'],
    ['no channel: a repeat', problem('unavailable', 'no_channel_available'), 503, undefined, '5'],
    [
      'a lost answer: no 5xx, which is repeated',
      problem('unavailable', 'service_unavailable'),
      424,
      'false',
      undefined,
    ],
    [
      'a store away before the work: a repeat',
      problem('unavailable', 'service_unavailable', 2000),
      503,
      undefined,
      '2',
    ],
    ['a fault: no 5xx, which is repeated', new TypeError('a secret of ours'), 424, 'false', undefined],
    ['refused content', problem('unprocessable', 'content_rejected'), 422, undefined, undefined],
  ])('that is refused: %s', async (_what, error, status, shouldRetry, retryAfter) => {
    under.tasks.refuse('createTask', error);
    const answer = await post(order);

    expect([answer.status, answer.headers['x-should-retry'], answer.headers['retry-after']]).toEqual([
      status,
      shouldRetry,
      retryAfter,
    ]);
    expect(answer.json.error.code).toBe(status);
    expect(answer.text).not.toContain('secret');
  });

  test('whose outcome is unknown is sent once by the SDK as it comes, which repeats every 5xx', async () => {
    under.tasks.refuse('createTask', new TypeError('a fault'));
    const { videoGeneration } = new OpenRouter({ apiKey: TOKEN, serverURL: `${under.url}/api/v1` });

    await expect(videoGeneration.generate({ videoGenerationRequest: order })).rejects.toMatchObject({
      statusCode: 424,
    });
    expect(under.tasks.calls).toEqual(['createTask']);
  });
});

describe('a read', () => {
  const read = async () => (await call(under.url, 'GET', `${PATH}/${TASK_ID}`)).json;

  test('shares the cached task with the other dialects', async () => {
    under.tasks.tasks.set(`demo/${TASK_ID}`, aTask({ state: TaskState.IN_PROGRESS, progress: 40 }));

    expect(await read()).toEqual({
      id: TASK_ID,
      polling_url: `${PUBLIC_URL}/api/v1/videos/${TASK_ID}`,
      status: 'in_progress',
    });
    expect((await call(under.url, 'GET', `/v1/videos/${TASK_ID}`)).json).toMatchObject({ status: 'in_progress' });
    expect(under.tasks.calls).toEqual(['getTask']);
  });

  test.each([
    ['held', 'USD', undefined],
    ['settled', 'USD', { cost: 0.4, is_byok: false }],
    ['settled', 'EUR', undefined],
  ])('of a charge that is %s in %s has the usage %j', async (state, currency, usage) => {
    const id = `task_${state}_${currency}`;
    const amountNanos = 400_000_000n;
    under.tasks.tasks.set(`demo/${id}`, aCompletedTask({ id }));
    under.books.addHold({
      hold: { taskId: id, accountId: 'demo', amountNanos, currency },
      ...(state === 'held' ? {} : { settlement: { amountNanos } }),
    });

    const { json } = await call(under.url, 'GET', `${PATH}/${id}`);
    expect(json.usage).toEqual(usage);
    expect(json.unsigned_urls).toEqual([expect.stringMatching(`^${PUBLIC_URL}/ximg/`)]);
  });
});

describe('the other paths of the base address', () => {
  test.each([
    ['GET', '/api/v1/credits', 404],
    ['GET', '/api/v1/key', 404],
    ['GET', '/api/v1/generation?id=x', 404],
    ['DELETE', `/api/v1/videos/${TASK_ID}`, 405],
    ['GET', '/api/v1/chat/completions', 405],
  ])('%s %s is refused with %i in the envelope of OpenRouter', async (method, path, status) => {
    const answer = await call(under.url, method, path);

    expect([answer.status, answer.json.error.code, answer.json.error.metadata]).toEqual([
      status,
      status,
      { reason: 'not_found' },
    ]);
  });
});

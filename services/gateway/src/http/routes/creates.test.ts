import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { Problem } from '@reelgate/platform/problem';
import { QueueClass, QueueMode } from '@reelgate/proto/tasks/v1/queue';
import { aQueuePlace, aTask } from '../../../testing/a-task.ts';
import { TOKEN } from '../../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { formBody } from '../../../testing/multipart-form.ts';
import { BOAT, brief } from '../../../testing/order-summary.ts';
import type { BesideOrder } from '../../dialects/dialect.ts';

const compat = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5', size: '1280x720' };
const generation = {
  model: 'Alpha-H3',
  content: [{ type: 'text', text: 'a boat' }],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
};
let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
afterAll(() => under.stop());
beforeEach(() => {
  under.tasks.calls.length = 0;
  under.tasks.creates.length = 0;
});

const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  call(under.url, 'POST', path, { body, headers });
const lastOrder = (): object => {
  return brief(under.tasks.creates.at(-1)!.order!);
};

describe('a create is one call with the decoded order', () => {
  test.each<[string, object, object]>([
    ['/v1/videos', compat, { ...BOAT, size: '1280x720' }],
    [
      '/v1/video/generations',
      { model: 'Alpha-H3', prompt: 'a boat', duration: 5, size: '1280x720' },
      { ...BOAT, size: '1280x720' },
    ],
    ['/v2/video_generation', generation, BOAT],
    [
      '/v2/video_regeneration',
      { model: 'Alpha-H3', resolution: '2K', source_task_id: 'task_1' },
      { kind: 'regeneration', model: 'Alpha-H3', content: [], resolution: '2K', sourceTaskId: 'task_1' },
    ],
    [
      '/v2/h3_context_ir',
      { ...generation, resolution: undefined },
      { kind: 'context_ir', model: 'Alpha-H3', content: ['a boat'], duration: 5, ratio: '16:9' },
    ],
    [
      '/v1/videos/task_abc/remix',
      { model: 'Alpha-H3', resolution: '2K' },
      { kind: 'regeneration', model: 'Alpha-H3', content: [], resolution: '2K', sourceTaskId: 'task_abc' },
    ],
  ])('POST %s', async (path, body, expected) => {
    const answer = await post(path, body);

    expect(answer.status).toBe(200);
    expect(answer.json.task_id).toBe(`task_${'1'.padStart(26, '0')}`);
    expect(under.tasks.calls).toEqual(['createTask']);
    expect(lastOrder()).toEqual(expected);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
  });

  test.each<[string, object]>([
    ['/v1/videos', compat],
    ['/v1/videos/task_abc/remix', { model: 'Alpha-H3', resolution: '2K' }],
    ['/v1/video/generations', compat],
  ])('POST %s answers the id under both names, and a replay has the same bytes', async (path, body) => {
    const key = { 'idempotency-key': `both-names${path}` };
    const [first, again] = [await post(path, body, key), await post(path, body, key)];

    expect(first.json).toMatchObject({ id: first.json.task_id, task_id: expect.stringMatching(/^task_/) });
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
  });
  test('a vendor path answers only task_id', async () => {
    expect(Object.keys((await post('/v2/video_generation', generation)).json)).toEqual(['task_id']);
  });

  test('a body without a content type is read as JSON', async () => {
    const answer = await call(under.url, 'POST', '/v1/videos', {
      body: JSON.stringify(compat),
      headers: { 'content-type': '' },
    });

    expect(answer.status).toBe(200);
  });
});

/** For each member beside the order, a create that gives it. A member without one does not compile. */
const BESIDE: { readonly [K in keyof BesideOrder]: readonly [path: string, fields: object, value: BesideOrder[K]] } = {
  webhookUrl: ['/v1/videos', { webhook_url: 'https://studio.example/hook' }, 'https://studio.example/hook'],
  maxAmountNanos: ['/v1/videos', { max_amount: '0.40' }, 400_000_000n],
  currency: ['/v1/video/generations', { currency: 'USD' }, 'USD'],
};

test.each(Object.entries(BESIDE))('%s is passed on beside the order', async (member, [path, fields, value]) => {
  expect((await post(path, { ...compat, ...fields })).status).toBe(200);
  expect(under.tasks.creates.at(-1)).toMatchObject({ [member]: value });
  expect(lastOrder()).toEqual({ ...BOAT, size: '1280x720' });
});

describe('a label', () => {
  const REMIX = { model: 'Alpha-H3', resolution: '2K' };
  const CREATES: readonly [string, object][] = [
    ['/v1/videos', compat],
    ['/v1/videos/task_abc/remix', REMIX],
    ['/v1/video/generations', compat],
    ['/v2/video_generation', generation],
    ['/v2/video_regeneration', { ...REMIX, source_task_id: 'task_1' }],
    ['/v2/h3_context_ir', { ...generation, resolution: undefined }],
  ];

  test.each(CREATES)('of POST %s goes with the order, and is no part of it', async (path, body) => {
    await post(path, body);
    const unlabelled = lastOrder();
    expect((await post(path, body, { 'reelgate-label': 'spring/7' })).status).toBe(200);

    expect(under.tasks.creates.map(({ label }) => label)).toEqual(['', 'spring/7']);
    expect(lastOrder()).toEqual(unlabelled);
  });

  test.each(CREATES)('of POST %s that is malformed is refused before anything is called', async (path, body) => {
    const { status, text } = await post(path, body, { 'reelgate-label': 'two words' });

    expect([status, text]).toEqual([400, expect.stringContaining('Reelgate-Label must be 1 to 64 letters')]);
    expect(under.tasks.calls).toEqual([]);
  });

  test('is shown by the compatibility object, which has no such member without one', async () => {
    expect((await post('/v1/videos', compat, { 'reelgate-label': 'spring' })).json).toMatchObject({ label: 'spring' });
    expect((await post('/v1/videos', compat)).json).not.toHaveProperty('label');
  });

  test('of a repeat does not matter: the answer is that of the first create, byte for byte', async () => {
    const send = (label: Readonly<Record<string, string>>) =>
      post('/v1/videos', compat, { 'idempotency-key': 'labelled', ...label });
    const first = await send({ 'reelgate-label': 'spring' });

    for (const label of [{ 'reelgate-label': 'spring' }, { 'reelgate-label': 'autumn' }, {}])
      expect(await send(label)).toMatchObject({ status: 200, text: first.text });
    expect(first.json.label).toBe('spring');
  });

  test('narrows the list', async () => {
    await post('/v1/videos', compat, { 'reelgate-label': 'of-the-list' });
    await post('/v1/videos', compat);
    const { json } = await call(under.url, 'GET', '/v1/videos?label=of-the-list');

    expect(json.data).toMatchObject([{ label: 'of-the-list' }]);
  });
});

describe('a bound of the price', () => {
  test.each<[string, object]>([
    ['/v1/videos', compat],
    ['/v1/videos/task_abc/remix', { model: 'Alpha-H3', resolution: '2K' }],
    ['/v1/videos', { model: 'Alpha-H3', source_task_id: 'task_abc' }],
    ['/v1/video/generations', compat],
  ])('POST %s is sent with the order', async (path, body) => {
    expect((await post(path, { ...body, max_amount: '0.40', currency: 'USD' })).status).toBe(200);

    expect(under.tasks.creates.at(-1)).toMatchObject({ maxAmountNanos: 400_000_000n, currency: 'USD' });
    expect(under.tasks.creates.at(-1)?.order?.model).toBe('Alpha-H3');
  });

  test('below the price is refused with the amounts', async () => {
    const metadata = { amount: '0.4', max_amount: '0.4', currency: 'USD' };
    const reason = { kind: 'unprocessable', reason: 'price_above_max', field: 'max_amount_nanos' } as const;
    under.tasks.refuse('createTask', new Problem({ ...reason, message: 'is 0.3 USD, but …', metadata }));
    const answer = await post('/v1/videos', { ...compat, max_amount: '0.30' });

    expect([answer.status, answer.json.error]).toEqual([
      422,
      {
        message: 'max_amount is 0.3 USD, but …',
        type: 'invalid_request_error',
        param: 'max_amount',
        code: 'price_above_max',
        metadata,
      },
    ]);
  });

  test.each([['-0.1'], ['0.0000000001'], ['1e3'], [''], [0.4]])('must be a decimal: %j', async (max_amount) => {
    const answer = await post('/v1/videos', { ...compat, max_amount });

    expect([answer.status, answer.json.error.param]).toEqual([400, 'max_amount']);
  });
});

describe('a preference of how a create waits', () => {
  test.each<[string, object]>([
    ['/v1/videos', compat],
    ['/v1/videos/task_abc/remix', { model: 'Alpha-H3', resolution: '2K' }],
    ['/v1/video/generations', compat],
    ['/v2/video_generation', generation],
    ['/v2/video_regeneration', { model: 'Alpha-H3', resolution: '2K', source_task_id: 'task_1' }],
    ['/v2/h3_context_ir', { ...generation, resolution: undefined }],
  ])('POST %s is passed on, and the answer says what was applied', async (path, body) => {
    const prefer = 'queue=wait, class=batch, start-within=600, not-before="2026-11-27T03:00:00Z"';
    const answer = await post(path, body, { prefer });

    expect(under.tasks.creates.at(-1)?.queue).toMatchObject({
      mode: QueueMode.WAIT,
      class: QueueClass.BATCH,
      startWithin: { seconds: 600n },
      notBefore: { seconds: BigInt(Date.UTC(2026, 10, 27, 3) / 1000) },
    });
    expect(answer.headers['preference-applied']).toBe(prefer.replace('00Z', '00.000Z'));
  });
  test('can be sent with the official SDK, which shows the place of the task', async () => {
    const client = new OpenAI({ apiKey: TOKEN, baseURL: `${under.url}/v1`, maxRetries: 0 });
    const headers = { Prefer: 'class=batch, start-within=600' };
    const { data, response } = await client.videos
      .create({ model: 'Alpha-H3', prompt: 'a boat' }, { headers })
      .withResponse();
    under.tasks.tasks.set(`demo/${data.id}`, aTask({ id: data.id, queue: aQueuePlace() }));
    const read = await client.videos.retrieve(data.id);

    expect(response.headers.get('preference-applied')).toBe(headers.Prefer);
    expect(read).toMatchObject({ status: 'queued', queue: { position: 3, class: 'batch', waits_for: 'own_limit' } });
  });
  test('that is not understood is not passed on', async () => {
    const answer = await post('/v1/videos', compat, { prefer: 'queue=soon, respond-async' });

    expect([answer.status, answer.headers['preference-applied']]).toEqual([200, undefined]);
    expect(under.tasks.creates.at(-1)?.queue).toBeUndefined();
  });
  test('is no part of what an idempotency key stands for, and a replay applies none', async () => {
    const key = { 'idempotency-key': 'other-preference' };
    const first = await post('/v1/videos', compat, { ...key, prefer: 'class=batch' });
    const again = await post('/v1/videos', compat, { ...key, prefer: 'queue=none' });

    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(again.headers['preference-applied']).toBeUndefined();
  });
  test.each(['queue_full', 'would_wait_too_long'])('%s is refused with the time of the estimate', async (reason) => {
    for (const path of ['/v1/videos', '/v1/video/generations', '/v2/video_generation']) {
      under.tasks.refuse(
        'createTask',
        new Problem({ kind: 'exhausted', reason, message: 'the turn would come too late', retryAfterMs: 419_500 }),
      );
      const { status, headers, json } = await post(path, generation, { prefer: 'start-within=60' });

      expect([status, headers['retry-after'], headers['x-should-retry']]).toEqual([429, '420', undefined]);
      expect(json.error).toMatchObject(path.startsWith('/v2') ? { type: 'rate_limit_error' } : { code: reason });
    }
  });
});

describe('a webhook URL', () => {
  const webhook_url = 'https://studio.example/hook';

  test.each<[string, object, object]>([
    ['/v1/videos', compat, { ...BOAT, size: '1280x720' }],
    ['/v1/videos', { model: 'Alpha-H3', source_task_id: 'task_1' }, { sourceTaskId: 'task_1' }],
    ['/v1/video/generations', compat, { ...BOAT, size: '1280x720' }],
    ['/v1/videos/task_abc/remix', { model: 'Alpha-H3', resolution: '2K' }, { sourceTaskId: 'task_abc' }],
  ])('POST %s passes it on beside the order', async (path, body, expected) => {
    expect((await post(path, { ...body, webhook_url })).status).toBe(200);
    expect(under.tasks.creates.at(-1)).toMatchObject({ webhookUrl: webhook_url });
    expect(lastOrder()).toMatchObject(expected);
    expect(lastOrder()).not.toHaveProperty('extra');
  });
  test('can be a field of a form', async () => {
    const body = formBody('b', [
      { name: 'model', content: 'Alpha-H3' },
      { name: 'prompt', content: 'a boat' },
      { name: 'webhook_url', content: webhook_url },
    ]);
    const answer = await post('/v1/videos', body, { 'content-type': 'multipart/form-data; boundary=b' });

    expect([answer.status, under.tasks.creates.at(-1)?.webhookUrl]).toEqual([200, webhook_url]);
    expect(lastOrder()).toEqual(BOAT);
  });
  test('is checked before the bytes of a medium are stored', async () => {
    const problem = { reason: 'invalid_webhook_url', field: 'webhook_url', message: 'must be an https URL' };
    under.tasks.refuse('checkOrder', new Problem({ kind: 'invalid', ...problem }));
    const input_reference = `data:image/png;base64,${'A'.repeat(64)}`;
    const answer = await post('/v1/videos', { ...compat, webhook_url, input_reference });

    expect([answer.status, answer.json.error.code, answer.json.error.param]).toEqual([
      400,
      'invalid_webhook_url',
      'webhook_url',
    ]);
    expect(under.tasks.checks.at(-1)).toMatchObject({ webhookUrl: webhook_url });
    expect(under.tasks.creates).toEqual([]);
  });
  test.each([1, '', {}])('of %j is refused', async (value) => {
    const answer = await post('/v1/videos', { ...compat, webhook_url: value });

    expect([answer.status, answer.json.error.param]).toEqual([400, 'webhook_url']);
  });
});

describe('an idempotency key', () => {
  const header = (key: string) => ({ 'idempotency-key': key });

  test('returns the first answer again, byte for byte, and marks it', async () => {
    const first = await post('/v1/videos', compat, header('again'));
    const second = await post(
      '/v1/videos',
      { size: '1280x720', seconds: '5', prompt: 'a boat', model: 'Alpha-H3' },
      header('again'),
    );

    expect(second.text).toBe(first.text);
    expect([first.headers['idempotent-replayed'], second.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
  });
  test.each<[string, string, object]>([
    ['another value', '/v1/videos', { ...compat, seconds: '6' }],
    ['another type', '/v1/videos', { ...compat, seconds: 5 }],
    ['one field more', '/v1/videos', { ...compat, user: 'me' }],
    ['another path', '/v1/video/generations', compat],
  ])('is not valid for %s', async (what, path, body) => {
    await post('/v1/videos', compat, header(what.replaceAll(' ', '-')));
    const answer = await post(path, body, header(what.replaceAll(' ', '-')));

    expect(answer.status).toBe(422);
    expect(answer.json.error.code).toBe('idempotency_key_reused');
  });
  test('can have 255 characters', async () => {
    expect((await post('/v1/videos', compat, header('~'.repeat(255)))).status).toBe(200);
  });
});

describe("a refusal of the order has the dialect's names", () => {
  test.each<[string, object, string, string]>([
    ['/v1/videos', compat, 'duration', 'seconds'],
    ['/v1/videos', compat, 'resolution', 'size'],
    ['/v1/videos', compat, 'content[0].text', 'prompt'],
    ['/v1/videos/task_abc/remix', { model: 'Alpha-H3', resolution: '2K' }, 'source_task_id', 'video_id'],
    ['/v1/video/generations', { ...compat, seconds: undefined, duration: 5 }, 'duration', 'duration'],
  ])('POST %s %j: %s is %s', async (path, body, field, written) => {
    under.tasks.refuse(
      'createTask',
      new Problem({ kind: 'invalid', reason: 'invalid_duration', field, message: 'must be right; it is not' }),
    );
    const answer = await post(path, body);

    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      error: {
        message: `${written} must be right; it is not`,
        type: 'invalid_request_error',
        param: written,
        code: 'invalid_duration',
      },
    });
  });
  test("in the vendor's envelope with its number", async () => {
    under.tasks.refuse(
      'createTask',
      new Problem({
        kind: 'invalid',
        reason: 'invalid_duration',
        field: 'duration',
        message: 'must be right; it is not',
      }),
    );
    const answer = await post('/v2/video_generation', generation, { 'x-request-id': 'mine-1' });

    expect(answer.json).toEqual({
      type: 'error',
      error: { type: 'bad_request_error', message: 'duration must be right; it is not (2013)', http_code: '400' },
      request_id: 'mine-1',
    });
  });
});

describe('a refusal tells an SDK whether to retry', () => {
  const problem = (kind: Problem['kind'], reason: string, retryAfterMs?: number) =>
    new Problem({ kind, reason, message: 'no', retryAfterMs });
  test.each<[string, Error, number, string | undefined, string | undefined]>([
    ['no balance: no automatic retry', problem('exhausted', 'insufficient_quota', 1000), 429, 'false', undefined],
    ['a limit: after the named time', problem('exhausted', 'too_many_tasks', 1200), 429, undefined, '2'],
    ['a limit without a time: after the default time', problem('exhausted', 'too_many_tasks'), 429, undefined, '5'],
    [
      'no channel: a retry, because nothing was sent',
      problem('unavailable', 'no_channel_available'),
      503,
      undefined,
      '5',
    ],
    [
      'a lost answer: no retry, because the work may have been done',
      problem('unavailable', 'service_unavailable'),
      503,
      'false',
      undefined,
    ],
    [
      'a store that is unavailable before the work began: a retry',
      problem('unavailable', 'service_unavailable', 2000),
      503,
      undefined,
      '2',
    ],
    [
      'a service that is busy before the work began: a retry',
      problem('unavailable', 'media_busy', 3000),
      503,
      undefined,
      '3',
    ],
    [
      'a refusal between our own services: no retry',
      problem('unauthenticated', 'invalid_caller_key'),
      500,
      'false',
      undefined,
    ],
    [
      'media that cannot be fetched now: a retry, because nothing was sent',
      problem('unavailable', 'media_busy'),
      503,
      undefined,
      '1',
    ],
    [
      'a full disk: a retry, because nothing was sent',
      problem('unavailable', 'storage_unavailable', 5000),
      503,
      undefined,
      '5',
    ],
    [
      'a fault: no retry, because the work may have been done',
      new TypeError('a secret of ours'),
      500,
      'false',
      undefined,
    ],
    ['an idempotency key in use: a retry soon', problem('conflict', 'idempotency_key_in_use'), 409, undefined, '1'],
    ['refused content: no retry', problem('unprocessable', 'content_rejected'), 422, undefined, undefined],
  ])('%s', async (_what, error, status, shouldRetry, retryAfter) => {
    under.tasks.refuse('createTask', error);
    const answer = await post('/v1/videos', compat);

    expect([answer.status, answer.headers['x-should-retry'], answer.headers['retry-after']]).toEqual([
      status,
      shouldRetry,
      retryAfter,
    ]);
    expect(answer.text).not.toContain('secret');
  });
  test('before the order is sent, a fault allows a retry', async () => {
    under.tasks.refuse('checkOrder', problem('unavailable', 'service_unavailable'));
    const answer = await post('/v1/videos', {
      ...compat,
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
    });

    expect([answer.status, answer.headers['x-should-retry'], answer.headers['retry-after']]).toEqual([
      503,
      undefined,
      '1',
    ]);
  });
});

describe('an estimate', () => {
  test('is a decimal with its contract and price facts, and creates nothing', async () => {
    const answer = await post('/v1/videos/estimate', compat);

    expect(answer.json).toEqual({
      model: 'Alpha-H3',
      operation: 'generation',
      amount: '0.4',
      currency: 'USD',
      contract: 'Alpha-H3',
      version: 1,
      facts: { seconds: 5 },
    });
    expect(under.tasks.calls).toEqual(['estimateOrder']);
  });
  test('takes the official generation body', async () => {
    await post('/v1/videos/estimate', generation);

    expect(brief(under.tasks.checked.at(-1)!)).toEqual(BOAT);
  });
  test('of a strict path is as strict as the path', async () => {
    const path = '/v1/videos/estimate?path=/v2/h3_context_ir';

    expect((await post(path, { ...generation, resolution: undefined })).json.operation).toBe('context_ir');
    expect((await post(path, generation)).status).toBe(400);
  });
});

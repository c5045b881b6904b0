import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { Problem } from '@reelgate/platform/problem';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { WebhookDeliveryState } from '@reelgate/proto/tasks/v1/webhook';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';

const BATCH_EVENTS = ['batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled'];

const ENDPOINTS = '/v1/webhook_endpoints';
const SETTINGS = { name: 'studio', url: 'https://studio.example/hook', event_types: ['video.completed'] };
const MADE_AT = Date.UTC(2026, 0, 1) / 1000;

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest();
});
afterEach(() => under.stop());

const webhooks = () => new OpenAI({ apiKey: TOKEN, baseURL: `${under.url}/v1`, maxRetries: 0 }).webhooks;
const make = (settings: object = {}) =>
  webhooks().create({ ...SETTINGS, ...settings } as OpenAI.Webhooks.WebhookCreateParams);

describe("OpenAI's client", () => {
  test('creates an endpoint and reads its secret once', async () => {
    const { signing_secret: secret, ...endpoint } = await make();

    expect(secret).toMatch(/^whsec_/);
    expect(endpoint).toEqual({
      id: 'whe_1',
      object: 'webhook_endpoint',
      ...SETTINGS,
      payload: 'thin',
      signing_secret_hint: 'whsec_AAAA…AAA=',
      created_at: MADE_AT,
      updated_at: MADE_AT,
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      last_success_at: null,
      last_failure_at: null,
    });
    expect(await webhooks().retrieve('whe_1')).toEqual(endpoint);
  });
  test('lists every endpoint page by page, the newest first', async () => {
    for (let count = 0; count < 5; count += 1) await make({ name: `number ${count}` });
    const names: string[] = [];
    for await (const { name } of webhooks().list({ limit: 2 })) names.push(name);

    expect(names).toEqual(['number 4', 'number 3', 'number 2', 'number 1', 'number 0']);
    expect((await call(under.url, 'GET', `${ENDPOINTS}?limit=2`)).json).toMatchObject({
      object: 'list',
      first_id: 'whe_5',
      last_id: 'whe_4',
      has_more: true,
    });
  });
  test('changes only what it names', async () => {
    await make();

    expect(await webhooks().update('whe_1', { name: 'other' })).toMatchObject({ ...SETTINGS, name: 'other' });
    expect(await webhooks().update('whe_1')).toMatchObject({ ...SETTINGS, name: 'other' });
    expect(await webhooks().update('whe_1', { status: 'disabled', payload: 'full' } as never)).toMatchObject({
      status: 'disabled',
      disabled_reason: 'by_owner',
      payload: 'full',
    });
    expect(await webhooks().update('whe_1', { status: 'enabled' } as never)).toMatchObject({ status: 'enabled' });
  });
  test('deletes an endpoint', async () => {
    await make();

    expect(await webhooks().delete('whe_1')).toEqual({
      id: 'whe_1',
      object: 'webhook_endpoint.deleted',
      deleted: true,
    });
    await expect(webhooks().retrieve('whe_1')).rejects.toMatchObject({
      status: 404,
      code: 'webhook_endpoint_not_found',
    });
  });
  test('rotates a secret, and says whether the old one still signs', async () => {
    await make();
    await webhooks().rotateSecret('whe_1');
    const rotated = await webhooks().rotateSecret('whe_1', { keep_old_secret_active_for_24_hours: true });

    expect(rotated).toMatchObject({ id: 'whe_1', signing_secret: expect.stringMatching(/^whsec_/) });
    expect(under.webhooks.calls.slice(-2)).toEqual(['rotate demo whe_1 false', 'rotate demo whe_1 true']);
  });
  test('tests an endpoint', async () => {
    await make();

    expect(await webhooks().test('whe_1', { event_type: 'video.failed' })).toEqual({
      object: 'webhook_endpoint.test',
      webhook_endpoint_id: 'whe_1',
      event_type: 'video.failed',
      success: true,
      status_code: 204,
    });
  });
  test('lists the types of events', async () => {
    expect(await webhooks().eventTypes.list()).toEqual({
      object: 'list',
      data: ['video.completed', 'video.failed', 'job.completed', 'job.failed', ...BATCH_EVENTS, 'balance.low'],
    });
  });
});

describe('a refusal names the field and the reason', () => {
  test.each<[string, string, string, unknown, number, string, string | null]>([
    ['no body', 'POST', ENDPOINTS, undefined, 400, 'invalid_request', 'name'],
    ['no name', 'POST', ENDPOINTS, { ...SETTINGS, name: undefined }, 400, 'invalid_request', 'name'],
    ['an empty name', 'POST', ENDPOINTS, { ...SETTINGS, name: '' }, 400, 'invalid_request', 'name'],
    ['a long name', 'POST', ENDPOINTS, { ...SETTINGS, name: 'x'.repeat(257) }, 400, 'invalid_request', 'name'],
    ['no URL', 'POST', ENDPOINTS, { ...SETTINGS, url: undefined }, 400, 'invalid_request', 'url'],
    ['no types', 'POST', ENDPOINTS, { ...SETTINGS, event_types: [] }, 400, 'invalid_request', 'event_types'],
    [
      'a type of another service',
      'POST',
      ENDPOINTS,
      { ...SETTINGS, event_types: ['response.completed'] },
      400,
      'invalid_request',
      'event_types[0]',
    ],
    ['another payload', 'POST', ENDPOINTS, { ...SETTINGS, payload: 'fat' }, 400, 'invalid_request', 'payload'],
    ['an unknown field', 'POST', ENDPOINTS, { ...SETTINGS, secret: 'x' }, 400, 'unknown_field', 'secret'],
    ['a limit of zero', 'GET', `${ENDPOINTS}?limit=0`, undefined, 400, 'invalid_request', 'limit'],
    ['an impossible position', 'GET', `${ENDPOINTS}?after=%20`, undefined, 400, 'invalid_request', 'after'],
    ['an impossible id', 'GET', `${ENDPOINTS}/a%20b`, undefined, 404, 'webhook_endpoint_not_found', null],
    ['another status', 'POST', `${ENDPOINTS}/whe_1`, { status: 'gone' }, 400, 'invalid_request', 'status'],
    ['no sample type', 'POST', `${ENDPOINTS}/whe_1/test`, {}, 400, 'invalid_request', 'event_type'],
    ['no time', 'POST', `${ENDPOINTS}/whe_1/resend_failed`, {}, 400, 'invalid_request', 'since'],
    ['another state', 'GET', `${ENDPOINTS}/whe_1/deliveries?state=x`, undefined, 400, 'invalid_request', 'state'],
    [
      'an impossible delivery',
      'GET',
      '/v1/webhook_deliveries/a%20b',
      undefined,
      404,
      'webhook_delivery_not_found',
      null,
    ],
  ])('%s', async (_what, method, path, body, status, code, param) => {
    const answer = await call(under.url, method, path, { body });

    expect([answer.status, answer.json.error.code, answer.json.error.param]).toEqual([status, code, param]);
    expect(under.webhooks.calls).toEqual([]);
  });
  test.each<[Problem['kind'], string, number]>([
    ['unprocessable', 'webhook_endpoint_limit', 422],
    ['invalid', 'invalid_webhook_url', 400],
    ['unavailable', 'service_unavailable', 503],
  ])('the tasks service: %s %s is %i', async (kind, reason, status) => {
    under.webhooks.refuse('create', new Problem({ kind, reason, field: 'url', message: 'must be another' }));
    const answer = await call(under.url, 'POST', ENDPOINTS, { body: SETTINGS });

    expect([answer.status, answer.json.error.code, answer.json.error.message]).toEqual([
      status,
      reason,
      'url must be another',
    ]);
  });
  test('a receiver that does not answer a test is 422', async () => {
    await make();
    const problem = new Problem({ kind: 'unprocessable', reason: 'webhook_not_reached', message: 'no answer' });
    under.webhooks.refuse('test', problem);

    await expect(webhooks().test('whe_1', { event_type: 'video.failed' })).rejects.toMatchObject({
      status: 422,
      code: 'webhook_not_reached',
    });
  });
});

describe('the right of a token', () => {
  const statuses = async (token: string) =>
    Promise.all([
      call(under.url, 'GET', ENDPOINTS, { token }),
      call(under.url, 'GET', '/v1/webhook_event_types', { token }),
      call(under.url, 'POST', ENDPOINTS, { token, body: SETTINGS }),
      call(under.url, 'POST', `${ENDPOINTS}/default/rotate_secret`, { token }),
    ]).then((answers) => answers.map(({ status, json }) => json.error?.code ?? status));

  test.each([
    ['write permits everything', WebhookRight.WRITE, [200, 200, 200, 200]],
    ['read permits reads', WebhookRight.READ, [200, 200, 'webhooks_not_allowed', 'webhooks_not_allowed']],
    ['none permits nothing', WebhookRight.NONE, Array.from({ length: 4 }, () => 'webhooks_not_allowed')],
  ])('%s', async (_what, right, expected) => {
    under.billing.tokens.set('limited-token', { webhooks: right });

    expect(await statuses('limited-token')).toEqual(expected);
  });
  test('is refused with 403', async () => {
    under.billing.tokens.set('limited-token', { webhooks: WebhookRight.NONE });

    expect((await call(under.url, 'GET', ENDPOINTS, { token: 'limited-token' })).status).toBe(403);
  });
});

describe('deliveries', () => {
  const deliveries = (count: number): void => {
    for (let number = 1; number <= count; number += 1)
      under.webhooks.addDelivery({
        id: `whd_${number}`,
        endpointId: 'default',
        url: 'https://studio.example/hook',
        eventId: `evt_${number}`,
        eventType: 'video.completed',
        subjectId: 'task_1',
        state: WebhookDeliveryState.FAILED,
        attemptCount: 1,
        lastError: 'timeout',
        attempts: [
          {
            number: 1,
            durationMs: 15_000n,
            error: 'timeout',
            requestHeaders: { 'webhook-id': 'evt_1' },
            answerHead: '',
          },
        ],
      });
  };

  test('are listed without their attempts, the newest first', async () => {
    deliveries(3);
    const { json } = await call(under.url, 'GET', `${ENDPOINTS}/default/deliveries?limit=2&state=failed`);

    expect(json).toMatchObject({ object: 'list', first_id: 'whd_3', last_id: 'whd_2', has_more: true });
    expect(json.data[0]).toEqual({
      id: 'whd_3',
      object: 'webhook_delivery',
      webhook_endpoint_id: 'default',
      url: 'https://studio.example/hook',
      event_id: 'evt_3',
      event_type: 'video.completed',
      subject_id: 'task_1',
      state: 'failed',
      attempt_count: 1,
      last_status_code: null,
      last_error: 'timeout',
      created_at: null,
      next_attempt_at: null,
      ended_at: null,
    });
    expect(under.webhooks.calls).toEqual(['list_deliveries demo default 3 2 ']);
  });
  test('are read with their attempts, and resent', async () => {
    deliveries(1);
    const [read, resent] = [
      await call(under.url, 'GET', '/v1/webhook_deliveries/whd_1'),
      await call(under.url, 'POST', '/v1/webhook_deliveries/whd_1/resend'),
    ];

    expect(read.json.attempts).toEqual([
      {
        number: 1,
        created_at: null,
        duration_ms: 15_000,
        status_code: null,
        error: 'timeout',
        request_headers: { 'webhook-id': 'evt_1' },
        response_head: '',
      },
    ]);
    expect(resent.json).toEqual(read.json);
    expect(under.webhooks.calls.at(-1)).toBe('resend demo whd_1');
  });
  test('that failed since a time are resent together', async () => {
    deliveries(2);
    const { json } = await call(under.url, 'POST', `${ENDPOINTS}/default/resend_failed`, { body: { since: 1000 } });

    expect(json).toEqual({
      object: 'webhook_endpoint.resent',
      webhook_endpoint_id: 'default',
      resent: 2,
      has_more: false,
    });
    expect(under.webhooks.calls).toEqual(['resend_failed demo default 1000']);
  });
});

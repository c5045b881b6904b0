import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import type { ResendFailedWebhookDeliveriesRequest } from '@reelgate/proto/tasks/v1/webhook_service';
import { COMMANDS } from '../command-table.ts';
import type { Outcome } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { parseCall } from '../parse-call.ts';

const HOUR_MS = 3_600_000;
const AT = timestampFromMs(1_790_000_000_000);
const ENDPOINT = {
  id: 'whe_1',
  accountId: 'demo',
  name: 'site',
  url: 'https://site.example/hook',
  eventTypes: ['video.completed', 'video.failed'],
  payload: WebhookPayload.THIN,
  secretHint: 'whsec_ab12…yz89',
  createdAt: AT,
};
const DELIVERY = {
  id: 'whd_1',
  endpointId: 'whe_1',
  url: 'https://site.example/hook',
  eventId: 'evt_1',
  eventType: 'video.completed',
  subjectId: 'task_1',
  state: WebhookDeliveryState.FAILED,
  attemptCount: 1,
  lastStatusCode: 500,
  createdAt: AT,
};

let asked: Record<string, unknown>[];
let resent: number[];
let statusCode: number;
beforeEach(() => {
  asked = [];
  resent = [];
  statusCode = 204;
});

/** Runs a typed line against a service that notes what it is asked. */
async function typed(...args: string[]): Promise<Outcome> {
  const noted =
    <A>(answer: () => A) =>
    async (request: object): Promise<A> => {
      asked.push({ ...request });
      return answer();
    };
  const endpoint = noted(() => ({ endpoint: ENDPOINT }));
  const withSecret = noted(() => ({ endpoint: ENDPOINT, secret: 'whsec_new' }));
  const binding = partialService(WebhookService, {
    createWebhookEndpoint: withSecret,
    listWebhookEndpoints: noted(() => ({
      endpoints: [{ ...ENDPOINT, disabledAt: AT, disabledReason: 'gone', failingSince: AT }, ENDPOINT],
    })),
    getWebhookEndpoint: endpoint,
    updateWebhookEndpoint: endpoint,
    deleteWebhookEndpoint: noted(() => ({})),
    rotateWebhookSecret: withSecret,
    testWebhookEndpoint: noted(() => ({ statusCode })),
    listWebhookDeliveries: noted(() => ({ deliveries: [DELIVERY] })),
    getWebhookDelivery: noted(() => ({
      delivery: {
        ...DELIVERY,
        attempts: [{ number: 1, at: AT, durationMs: 12n, statusCode: 500, requestHeaders: { 'webhook-id': 'evt_1' } }],
      },
    })),
    resendWebhookDelivery: noted(() => ({ delivery: DELIVERY })),
    resendFailedWebhookDeliveries: noted(() => ({ resent: resent.shift() ?? 0 })),
  });
  const { name = '', words, options } = parseCall(['webhook', ...args], COMMANDS);
  return COMMANDS[name]!.run({
    words,
    options: options as never,
    services: { webhooks: directClient(WebhookService, binding, aCaller()) } as Services,
    environment: {},
    terminal: { columns: undefined } as never,
    json: true,
    print: () => undefined,
  });
}

const OF_DEMO = ['--account', 'demo'];

test('webhook create asks for the endpoint and shows its secret', async () => {
  const events = ['--events', 'video.completed, video.failed'];

  const { answer } = await typed('create', ...OF_DEMO, '--url', 'https://a.example', '--name', 'site', ...events);

  expect(asked).toMatchObject([
    { accountId: 'demo', url: 'https://a.example', name: 'site', eventTypes: ['video.completed', 'video.failed'] },
  ]);
  expect(answer).toMatchObject({ endpoint: ENDPOINT, secret: 'whsec_new' });
});

test('webhook list shows which endpoints are disabled, and why', async () => {
  const { answer, text } = await typed('list', ...OF_DEMO);

  expect(asked).toMatchObject([{ accountId: 'demo', limit: 20, after: '' }]);
  expect(answer).toMatchObject({ endpoints: [{ disabledReason: 'gone' }, ENDPOINT] });
  expect(text).toMatch(/^ID +STATUS +FAILING SINCE .*\nwhe_1 +disabled: gone +\d+\w ago .*\nwhe_1 +enabled /);
});

describe('webhook update', () => {
  test.each<[string[], object]>([
    [['--status', 'disabled'], { disabled: true, eventTypes: [] }],
    [['--status', 'enabled', '--url', 'https://b.example'], { disabled: false, url: 'https://b.example' }],
    [['--name', '', '--payload', 'full'], { name: '', payload: WebhookPayload.FULL }],
    [['--events', 'job.failed'], { eventTypes: ['job.failed'] }],
  ])('with %j changes nothing else', async (options, expected) => {
    await typed('update', 'whe_1', ...OF_DEMO, ...options);

    const { $typeName: _name, $unknown: _unknown, ...sent } = asked[0]!;
    expect(sent).toEqual({ accountId: 'demo', endpointId: 'whe_1', eventTypes: [], payload: 0, ...expected });
  });

  test('without a setting is refused', async () => {
    await expect(typed('update', 'whe_1', ...OF_DEMO)).rejects.toThrow('name a setting to change');
    expect(asked).toEqual([]);
  });
});

test.each([
  [[], false],
  [['--keep-old'], true],
])('webhook rotate with %j shows the new secret', async (options, keepOldSecret) => {
  const { answer } = await typed('rotate', 'default', ...OF_DEMO, ...options);

  expect(asked).toMatchObject([{ endpointId: 'default', keepOldSecret }]);
  expect(answer).toMatchObject({ secret: 'whsec_new' });
});

test.each([
  [204, true],
  [404, false],
])('webhook test with the answer %d is a success: %s', async (status, ok) => {
  statusCode = status;

  expect(await typed('test', 'whe_1', ...OF_DEMO)).toMatchObject({ answer: { statusCode: status }, ok });
  expect(asked).toMatchObject([{ eventType: 'video.completed' }]);
});

test('webhook deliveries filters by state', async () => {
  const { answer, text } = await typed('deliveries', 'whe_1', ...OF_DEMO, '--state', 'failed', '--limit', '100');

  expect(asked).toMatchObject([{ endpointId: 'whe_1', state: WebhookDeliveryState.FAILED, limit: 100 }]);
  expect(answer).toMatchObject({ deliveries: [DELIVERY] });
  expect(text).toMatch(/\nwhd_1 +failed +video\.completed /);
});

test('webhook delivery shows the attempts', async () => {
  const { answer } = await typed('delivery', 'whd_1', ...OF_DEMO);

  expect(asked).toMatchObject([{ accountId: 'demo', deliveryId: 'whd_1' }]);
  expect(answer).toMatchObject({
    delivery: {
      attempts: [{ number: 1, durationMs: 12n, statusCode: 500, requestHeaders: { 'webhook-id': 'evt_1' } }],
    },
  });
});

test.each([
  ['show', { endpoint: ENDPOINT }],
  ['delete', {}],
])('webhook %s names one endpoint', async (command, expected) => {
  expect(await typed(command, 'whe_1', ...OF_DEMO)).toMatchObject({ answer: expected });
  expect(asked).toMatchObject([{ accountId: 'demo', endpointId: 'whe_1' }]);
  await expect(typed(command, ...OF_DEMO)).rejects.toThrow('name one endpoint');
});

test('webhook resend names one delivery', async () => {
  expect(await typed('resend', 'whd_1', ...OF_DEMO)).toMatchObject({ answer: { delivery: DELIVERY } });
  await expect(typed('resend', 'whd_1', 'whd_2', ...OF_DEMO)).rejects.toThrow('name one delivery');
});

describe('webhook resend-failed', () => {
  test('calls until all are resent, with the same time', async () => {
    resent = [1000, 1000, 7];

    const { answer } = await typed('resend-failed', 'whe_1', ...OF_DEMO, '--since', '24h');

    expect(answer).toEqual({ resent: 2007, all: true });
    const times = (asked as unknown as ResendFailedWebhookDeliveriesRequest[]).map(({ since }) => timestampMs(since!));
    expect([times.length, new Set(times).size]).toEqual([3, 1]);
    expect(Math.abs(systemClock.now() - 24 * HOUR_MS - times[0]!)).toBeLessThan(HOUR_MS);
  });

  test('ends after a hundred calls and says that there may be more', async () => {
    resent = Array.from({ length: 200 }, () => 1000);

    const { answer } = await typed('resend-failed', 'whe_1', ...OF_DEMO, '--since', '24h');

    expect(answer).toEqual({ resent: 100_000, all: false });
  });
});

test.each([
  [['list', ...OF_DEMO, '--limit', '101'], '--limit takes a whole number from 1 to 100, not 101'],
  [['resend-failed', 'whe_1', ...OF_DEMO, '--since', 'noon'], 'expected a duration such as 12h or 30d, not noon'],
])('webhook %j is refused', async (args, message) => {
  await expect(typed(...args)).rejects.toThrow(message);
  expect(asked).toEqual([]);
});

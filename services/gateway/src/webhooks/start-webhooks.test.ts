import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { until, untilAfter } from '@reelgate/platform/testing/until';
import { signDelivery } from '@reelgate/platform/webhooks/sign';
import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { EventsDispatchedSchema } from '@reelgate/proto/tasks/v1/webhook_events';
import { CREATED_MS, TASK_ID, aCompletedTask } from '../../testing/a-task.ts';
import { SECRET } from '../../testing/a-webhook-fixture.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
afterAll(() => under.stop());

test('dispatched events are delivered at once, with the bytes of the status read, and recorded', async () => {
  const task = aCompletedTask();
  under.tasks.tasks.set(`demo/${TASK_ID}`, task);
  const { due, records } = under.webhooks.work;
  due.push({
    receiverId: 'whe_1',
    lease: 'lease_1',
    accountId: 'demo',
    payload: WebhookPayload.FULL,
    secrets: [SECRET.reveal()],
    deliveries: [
      {
        deliveryId: 'whd_1',
        attempt: 1,
        url: 'https://receiver.example/hook',
        event: {
          id: 'evt_1',
          accountId: 'demo',
          type: 'video.completed',
          subjectId: TASK_ID,
          createdAt: timestampFromMs(CREATED_MS),
          subject: { case: 'task', value: task },
        },
      },
    ],
  });

  under.bus.announce(EventsDispatchedSchema, create(EventsDispatchedSchema, { deliveriesDue: true }));
  await until(() => under.sends.requests.length === 1);
  await untilAfter(under.clock, () => records.length === 1);

  const [{ url, headers, body } = {}] = under.sends.requests;
  const text = Buffer.from(body ?? []).toString();
  const read = await call(under.url, 'GET', `/v1/videos/${TASK_ID}`);
  expect(url).toBe('https://receiver.example/hook');
  expect(text.endsWith(`"data":{"id":"${TASK_ID}","task":${read.text}}}`)).toBe(true);
  const sent = new Map(headers?.map(({ name, value }) => [name, value]));
  const signed = { id: 'evt_1', timestamp: Number(sent.get('webhook-timestamp')), body: text };
  expect(sent.get('webhook-signature')).toBe(signDelivery([SECRET], signed));
  expect(records).toMatchObject([
    {
      receiverId: 'whe_1',
      lease: 'lease_1',
      returned: true,
      attempts: [{ deliveryId: 'whd_1', attempt: { number: 1, statusCode: 204, error: '' } }],
    },
  ]);
});

test('the number of receivers that are served is a metric', async () => {
  const metrics = await call(under.url, 'GET', '/metrics', { token: null });

  expect(metrics.text).toContain('reelgate_webhook_workers_busy 0');
});

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { WebhookDeliveryState } from '@reelgate/proto/tasks/v1/webhook';
import { EVENT_TYPES } from '../../clients/webhooks-client.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { signIn } from '../../../testing/signed-in.ts';

const SETTINGS = { name: 'studio', url: 'https://studio.example/hook', event_types: ['video.completed'] };

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest();
  under.billing.tokens.set('rg_reader', { webhooks: WebhookRight.READ });
  under.billing.tokens.set('rg_plain', { webhooks: WebhookRight.NONE });
});
afterEach(() => under.stop());

test('the endpoints of the account are listed without secrets, and the one for URLs in requests at the end', async () => {
  const at = await signIn(under);
  await at.send('POST', '/v1/webhook_endpoints', SETTINGS);
  const { json, text } = await at.get('/webhooks');

  expect(json).toMatchObject({
    endpoints: [
      { id: 'whe_1', name: 'studio', eventTypes: ['video.completed'], payload: 'WEBHOOK_PAYLOAD_THIN' },
      { id: 'default', url: '' },
    ],
    eventTypes: EVENT_TYPES,
    canChange: true,
  });
  expect(text).not.toContain('whsec_AAAAAAAA');
});

test('the deliveries of an endpoint come in pages of fifty, and a page names the next one', async () => {
  const at = await signIn(under);
  await at.send('POST', '/v1/webhook_endpoints', SETTINGS);
  for (let count = 0; count < 60; count += 1)
    under.webhooks.addDelivery({
      id: `whd_${count}`,
      endpointId: 'whe_1',
      state: WebhookDeliveryState.FAILED,
      lastError: 'timeout',
    });
  const first = await at.get('/webhooks/whe_1?state=failed');
  const second = await at.get(`/webhooks/whe_1?state=failed&after=${first.json.after}`);

  expect(first.json.deliveries).toHaveLength(50);
  expect(first.json.deliveries[0]).toMatchObject({
    id: 'whd_59',
    state: 'WEBHOOK_DELIVERY_STATE_FAILED',
    lastError: 'timeout',
    attempts: [],
  });
  expect(second.json.deliveries).toHaveLength(10);
  expect(second.json).not.toHaveProperty('after');
  expect(under.webhooks.calls).toContain(`list_deliveries demo whe_1 ${WebhookDeliveryState.FAILED} 50 whd_10`);
});

test('a delivery is read at its endpoint alone', async () => {
  under.webhooks.addDelivery({
    id: 'whd_1',
    endpointId: 'default',
    attempts: [{ number: 1, durationMs: 12n, statusCode: 500, error: 'status', answerHead: 'no' }],
  });
  const at = await signIn(under);

  expect((await at.get('/webhooks/default/whd_1')).json).toMatchObject({
    delivery: {
      id: 'whd_1',
      attempts: [{ number: 1, durationMs: '12', statusCode: 500, error: 'status', answerHead: 'no' }],
    },
    canChange: true,
  });
  expect((await at.get('/webhooks/whe_2/whd_1')).status).toBe(404);
});

test('a token that may only read webhooks sees that it cannot change them', async () => {
  const at = await signIn(under, 'rg_reader');

  expect((await at.get('/webhooks')).json.canChange).toBe(false);
});

test.each(['/webhooks', '/webhooks/default', '/webhooks/default/whd_1'])(
  'a token without the right to read webhooks is refused at %s',
  async (path) => {
    const at = await signIn(under, 'rg_plain');
    const { status, json } = await at.get(path);

    expect({ status, code: json.error.code }).toEqual({ status: 403, code: 'webhooks_not_allowed' });
  },
);

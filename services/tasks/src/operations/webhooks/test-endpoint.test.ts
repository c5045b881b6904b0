import { expect, test } from '@jest/globals';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import { aNewEndpoint, useWebhookWorlds } from '../../../testing/webhooks/open-webhook-world.ts';
import { createEndpoint } from './manage-endpoints.ts';
import { testEndpoint } from './test-endpoint.ts';

const open = useWebhookWorlds();

test.each([
  [{ status: 503 }, { 'http.response.status_code': 503 }],
  [{ fault: 'timeout' }, { 'error.type': 'timeout' }],
])('a test delivery that ends with %p has a span and a line in the log that name its event', async (answer, end) => {
  const world = await open();
  world.answer = answer;
  const { endpoint, secret } = await createEndpoint(world.deps, aNewEndpoint());
  const name = { accountId: 'acme', endpointId: endpoint.id };
  const { tracing, spans } = keepingTracing();
  const span = tracing.root('request', { class: 'create' });

  await testEndpoint(world.deps, name, 'video.failed', { span }).catch(() => undefined);

  const { 'webhook-id': eventId, 'webhook-signature': signature = '' } = world.sent[0]!.headers;
  expect(world.lines.at(-1)).toBe(`a test webhook was sent ${JSON.stringify({ ...name, eventId, ...answer })}`);
  expect(spans()).toMatchObject([{ name: 'deliver webhook', kind: 'client', traceId: span.traceId }]);
  expect(spans()[0]!.attributes).toEqual({
    'reelgate.account.id': 'acme',
    'reelgate.event.id': eventId,
    'reelgate.event.type': 'video.failed',
    ...end,
  });
  const written = JSON.stringify(spans()) + world.lines.join();
  for (const hidden of [secret.reveal(), signature, '/ends'])
    expect([hidden, written.includes(hidden)]).toEqual([hidden, false]);
});

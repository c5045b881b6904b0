import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';

let origin: Origin;
let under: MediaUnderTest;
const body = new TextEncoder().encode('{}');

beforeAll(async () => {
  origin = await startOrigin();
  under = await startMediaUnderTest({ webhooks: { allow: [origin.host] } });
});
afterAll(async () => {
  await under.close();
  await origin.close();
});

test('a request is sent to an exception of the configuration, and the answer comes back', async () => {
  const url = origin.url((_request, response) => response.writeHead(429, { 'retry-after': '9' }).end('later'));
  const sent = await under.client.sendWebhook({
    accountId: 'one',
    url,
    headers: [{ name: 'webhook-id', value: 'evt_1' }],
    body,
  });

  expect(sent).toMatchObject({ statusCode: 429, fault: '', retryAfterMs: 9000n });
  expect(new TextDecoder().decode(sent.answerHead)).toBe('later');
  expect(origin.hits.at(-1)?.headers).toMatchObject({ 'webhook-id': 'evt_1' });
});

test('a receiver that is not reached is an answer', async () => {
  expect(
    await under.client.sendWebhook({ accountId: 'one', url: 'https://10.0.0.1/', headers: [], body }),
  ).toMatchObject({
    statusCode: 0,
    fault: 'address_refused',
    retryAfterMs: 0n,
  });
});

test('a header of the connection is refused', async () => {
  const headers = [{ name: 'transfer-encoding', value: 'chunked' }];

  await expect(
    under.client.sendWebhook({ accountId: 'one', url: 'https://a.example/', headers, body }),
  ).rejects.toMatchObject({
    kind: 'invalid',
    field: 'headers',
  });
});

import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import type { CallOptions } from '@reelgate/platform/rpc/service';
import { SendWebhookResponseSchema } from '@reelgate/proto/media/v1/media_service';
import { webhookSender } from './media.ts';

const REQUEST = {
  accountId: 'acme',
  url: 'https://hooks.example',
  headers: { 'webhook-id': 'evt_1', 'content-type': 'application/json' },
  body: '{"id":"ä"}',
};

/** A sender over media that gives one answer. */
function over(answer: { readonly statusCode?: number; readonly fault?: string }) {
  const asked: [request: unknown, options: CallOptions | undefined][] = [];
  const sender = webhookSender({
    sendWebhook: async (request, options) => {
      asked.push([request, options]);
      return create(SendWebhookResponseSchema, answer);
    },
  });
  return { asked, sender };
}

test('a request is sent with its headers and its bytes, and with less time than the call has', async () => {
  const { asked, sender } = over({ statusCode: 204 });
  const { signal } = new AbortController();

  expect(await sender.send(REQUEST, { signal })).toEqual({ status: 204 });

  expect(asked).toEqual([
    [
      {
        accountId: 'acme',
        url: 'https://hooks.example',
        headers: [
          { name: 'webhook-id', value: 'evt_1' },
          { name: 'content-type', value: 'application/json' },
        ],
        body: Buffer.from('{"id":"ä"}'),
        timeoutMs: 15_000n,
      },
      { timeoutMs: 20_000, signal },
    ],
  ]);
});

test.each([
  ['without an answer', { fault: 'timeout' }],
  ['with an answer that does not count', { statusCode: 302, fault: 'redirect' }],
])('a fault %s is the answer', async (_what, answer) => {
  expect(await over(answer).sender.send(REQUEST)).toEqual({ fault: answer.fault });
});

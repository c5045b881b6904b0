import { describe, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import type { SendWebhookRequest } from '@reelgate/proto/media/v1/media_service';
import { webhookSender } from './webhook-sender.ts';
import type { WebhookSender } from './webhook-sender.ts';

interface Answer {
  readonly statusCode?: number;
  readonly fault?: string;
  readonly durationMs?: bigint;
  readonly retryAfterMs?: bigint;
  readonly answerHead?: Uint8Array;
}

function opened(answer: Answer): { readonly sender: WebhookSender; readonly requests: SendWebhookRequest[] } {
  const requests: SendWebhookRequest[] = [];
  const sendWebhook = async (request: SendWebhookRequest): Promise<Answer> => {
    requests.push(request);
    return answer;
  };
  return {
    requests,
    sender: webhookSender(directClient(MediaService, partialService(MediaService, { sendWebhook }), aCaller())),
  };
}
const request = {
  accountId: 'demo',
  url: 'https://receiver.example/',
  headers: { 'webhook-id': 'evt_1' },
  body: Buffer.from('{}'),
  timeoutMs: 15_000,
};
const { signal } = new AbortController();

describe('a webhook', () => {
  test('is sent as it is, and its answer comes back in the types of the gateway', async () => {
    const { sender, requests } = opened({
      statusCode: 429,
      durationMs: 12n,
      retryAfterMs: 9000n,
      answerHead: Buffer.from('später'),
    });

    expect(await sender.send(request, { signal })).toEqual({
      status: 429,
      fault: '',
      durationMs: 12,
      retryAfterMs: 9000,
      answerHead: 'später',
    });
    expect(requests).toMatchObject([
      {
        accountId: 'demo',
        url: 'https://receiver.example/',
        headers: [{ name: 'webhook-id', value: 'evt_1' }],
        body: request.body,
        timeoutMs: 15_000n,
      },
    ]);
  });

  test.each<[string, Uint8Array]>([
    ['a NUL', Buffer.from('a\0b')],
    ['a byte that is no text', Buffer.from([97, 255, 98])],
  ])('has an answer that can be stored for one with %s', async (_what, answerHead) => {
    const { sender } = opened({ statusCode: 200, answerHead });

    expect((await sender.send(request, { signal })).answerHead).toBe('a\ufffdb');
  });

  test('that media has no connection for is not answered but refused, so that it can be sent later', async () => {
    const { sender } = opened({ fault: 'busy' });

    await expect(sender.send(request, { signal })).rejects.toMatchObject({ kind: 'unavailable', reason: 'media_busy' });
  });
});

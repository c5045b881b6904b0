import { describe, expect, test } from '@jest/globals';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import type {
  SendWebhookRequest,
  SendWebhookResponse,
  SendWebhookResponseSchema,
} from '@reelgate/proto/media/v1/media_service';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { Webhook } from 'standardwebhooks';
import { SECRET, aDelivery, aLeasedReceiver, anAnswer } from '../../testing/a-webhook-fixture.ts';
import { makeAttempt } from './make-attempt.ts';
import type { LeasedReceiver, MadeAttempt } from './make-attempt.ts';

const NOW = Date.UTC(2026, 0, 1, 0, 0, 9, 999);
const OLD_SECRET = new Secret(`whsec_${Buffer.alloc(32, 2).toString('base64')}`);
const BODY = '{"object":"event","id":"evt_1"}';

type AnswerInit = Exclude<MessageInitShape<typeof SendWebhookResponseSchema>, SendWebhookResponse>;

async function made(
  answer: AnswerInit = {},
  receiver: Partial<LeasedReceiver> = {},
): Promise<{ readonly made: MadeAttempt; readonly request: SendWebhookRequest; readonly headers: object }> {
  const requests: SendWebhookRequest[] = [];
  const sendWebhook = async (request: SendWebhookRequest): Promise<SendWebhookResponse> => {
    requests.push(request);
    return anAnswer(answer);
  };
  const sender = directClient(MediaService, partialService(MediaService, { sendWebhook }), aCaller());
  const attempt = await makeAttempt(
    { sender, clock: fakeClock(NOW) },
    {
      receiver: aLeasedReceiver(receiver),
      delivery: aDelivery({ deliveryId: 'whd_1', attempt: 3, url: 'https://receiver.example/hook' }),
      body: Buffer.from(BODY),
      circuit: 0n,
      signal: new AbortController().signal,
      span: NO_SPAN,
    },
  );
  const request = requests[0]!;
  return {
    made: attempt,
    request,
    headers: Object.fromEntries(request.headers.map(({ name, value }) => [name, value])),
  };
}

describe('an attempt', () => {
  test('posts the body to the URL for the account, with 15 s for the answer', async () => {
    const { request } = await made();

    expect(request).toMatchObject({ accountId: 'demo', url: 'https://receiver.example/hook', timeoutMs: 15_000n });
    expect(Buffer.from(request.body).toString()).toBe(BODY);
  });

  test('has the headers of Standard Webhooks, signed with each secret', async () => {
    const { headers } = await made({}, { secrets: [SECRET, OLD_SECRET] });

    const signatures = [SECRET, OLD_SECRET].map((secret) =>
      new Webhook(secret.reveal()).sign('evt_1', new Date(NOW), BODY),
    );
    expect(headers).toEqual({
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(NOW / 1000)),
      'webhook-signature': signatures.join(' '),
    });
  });

  test('is reported with its time, the answer and its headers, without the signature', async () => {
    const answer = { durationMs: 12n, retryAfterMs: 7n, answerHead: Buffer.from('später') };
    const { made: attempt, headers } = await made(answer);

    const { 'webhook-signature': signature, ...reported } = headers as Record<string, string>;
    expect(signature).toMatch(/^v1,/);
    expect(attempt).toMatchObject({
      deliveryId: 'whd_1',
      retryAfterMs: 7n,
      circuit: 0n,
      attempt: {
        number: 3,
        at: timestampFromMs(NOW),
        durationMs: 12n,
        statusCode: 200,
        error: '',
        requestHeaders: reported,
        answerHead: 'später',
      },
    });
  });

  test.each<[string, Uint8Array]>([
    ['a NUL', Buffer.from('a\0b')],
    ['a byte that is no text', Buffer.from([97, 255, 98])],
  ])('has an answer that can be stored for one with %s', async (_what, answerHead) => {
    expect((await made({ answerHead })).made.attempt.answerHead).toBe('a\ufffdb');
  });

  test('that media has no connection for is not answered but refused, so that it can be sent later', async () => {
    await expect(made({ fault: 'busy' })).rejects.toMatchObject({ kind: 'unavailable', reason: 'media_busy' });
  });

  test.each<[AnswerInit, string]>([
    [{ statusCode: 200 }, ''],
    [{ statusCode: 204 }, ''],
    [{ statusCode: 299 }, ''],
    [{ statusCode: 301 }, 'redirect'],
    [{ statusCode: 304 }, 'redirect'],
    [{ statusCode: 302, fault: 'redirect' }, 'redirect'],
    [{ statusCode: 400 }, 'status'],
    [{ statusCode: 410 }, 'status'],
    [{ statusCode: 500 }, 'status'],
    [{ statusCode: 0, fault: 'timeout' }, 'timeout'],
    [{ statusCode: 0, fault: 'address_refused' }, 'address_refused'],
    [{ statusCode: 200, fault: 'too_large' }, 'too_large'],
  ])('with the answer %j has the error %j', async (answer, error) => {
    expect((await made(answer)).made.attempt).toMatchObject({ error, statusCode: answer.statusCode });
  });
});

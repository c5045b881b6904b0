import { describe, expect, test } from '@jest/globals';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { Webhook } from 'standardwebhooks';
import { SECRET, aLeasedReceiver, anAnswer, anEvent } from '../../testing/a-webhook-fixture.ts';
import type { WebhookAnswer, WebhookRequest } from '../clients/webhook-sender.ts';
import type { LeasedReceiver, DeliveryAttempt } from '../clients/webhook-work-client.ts';
import { makeAttempt } from './make-attempt.ts';

const NOW = Date.UTC(2026, 0, 1, 0, 0, 9, 999);
const OLD_SECRET = new Secret(`whsec_${Buffer.alloc(32, 2).toString('base64')}`);
const BODY = '{"object":"event","id":"evt_1"}';

async function made(
  answer: Partial<WebhookAnswer> = {},
  receiver: Partial<LeasedReceiver> = {},
): Promise<{ readonly attempt: DeliveryAttempt; readonly request: WebhookRequest }> {
  const requests: WebhookRequest[] = [];
  const sender = {
    send: async (request: WebhookRequest): Promise<WebhookAnswer> => {
      requests.push(request);
      return anAnswer(answer);
    },
  };
  const attempt = await makeAttempt(
    { sender, clock: fakeClock(NOW) },
    {
      receiver: aLeasedReceiver(receiver),
      delivery: {
        id: 'whd_1',
        attempt: 3,
        url: 'https://receiver.example/hook',
        event: anEvent(),
        origin: { requestId: '', trace: undefined, linkedTrace: undefined },
      },
      body: Buffer.from(BODY),
      circuit: 0,
      signal: new AbortController().signal,
      span: NO_SPAN,
    },
  );
  return { attempt, request: requests[0]! };
}

describe('an attempt', () => {
  test('posts the body to the URL for the account, with 15 s for the answer', async () => {
    const { request } = await made();

    expect(request).toMatchObject({ accountId: 'demo', url: 'https://receiver.example/hook', timeoutMs: 15_000 });
    expect(Buffer.from(request.body).toString()).toBe(BODY);
  });

  test('has the headers of Standard Webhooks, signed with each secret', async () => {
    const { request } = await made({}, { secrets: [SECRET, OLD_SECRET] });

    const signatures = [SECRET, OLD_SECRET].map((secret) =>
      new Webhook(secret.reveal()).sign('evt_1', new Date(NOW), BODY),
    );
    expect(request.headers).toEqual({
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(NOW / 1000)),
      'webhook-signature': signatures.join(' '),
    });
  });

  test('is reported with its time, the answer and its headers, without the signature', async () => {
    const { attempt, request } = await made({ durationMs: 12, retryAfterMs: 7, answerHead: 'thanks' });

    const { 'webhook-signature': signature, ...reported } = request.headers;
    expect(signature).toMatch(/^v1,/);
    expect(attempt).toEqual({
      deliveryId: 'whd_1',
      number: 3,
      circuit: 0,
      at: NOW,
      durationMs: 12,
      status: 200,
      error: '',
      requestHeaders: reported,
      answerHead: 'thanks',
      retryAfterMs: 7,
    });
  });

  test.each<[Partial<WebhookAnswer>, string]>([
    [{ status: 200 }, ''],
    [{ status: 204 }, ''],
    [{ status: 299 }, ''],
    [{ status: 301 }, 'redirect'],
    [{ status: 304 }, 'redirect'],
    [{ status: 302, fault: 'redirect' }, 'redirect'],
    [{ status: 400 }, 'status'],
    [{ status: 410 }, 'status'],
    [{ status: 500 }, 'status'],
    [{ status: 0, fault: 'timeout' }, 'timeout'],
    [{ status: 0, fault: 'address_refused' }, 'address_refused'],
    [{ status: 200, fault: 'too_large' }, 'too_large'],
  ])('with the answer %j has the error %j', async (answer, error) => {
    expect((await made(answer)).attempt).toMatchObject({ error, status: answer.status });
  });
});

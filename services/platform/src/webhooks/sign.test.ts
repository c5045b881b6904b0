import { describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { Secret } from '../secret.ts';
import { signDelivery } from './sign.ts';

const secret = new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
const other = new Secret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
/** The verifiers compare with the time of the system, so these deliveries are signed now. */
const timestamp = Math.floor(Date.now() / 1000);
const delivery = { id: 'evt_1', timestamp, body: '{"object":"event","data":{"id":"täsk_1"}}' };

const headersOf = (secrets: readonly Secret[]): Record<string, string> => ({
  'webhook-id': delivery.id,
  'webhook-timestamp': String(delivery.timestamp),
  'webhook-signature': signDelivery(secrets, delivery),
});
const openai = new OpenAI({ apiKey: 'unused' });

describe('a signature', () => {
  test('is that of the published example of Standard Webhooks', () => {
    const example = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' };

    const signature = signDelivery([secret], example);

    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  test('is the same for a text and for its bytes', () => {
    const bytes = Buffer.from(delivery.body);

    expect(signDelivery([secret], { ...delivery, body: bytes })).toBe(signDelivery([secret], delivery));
  });

  test.each<[string, readonly Secret[], Secret]>([
    ['the secret', [secret], secret],
    ['the newest of two secrets', [other, secret], other],
    ['the oldest of two secrets', [other, secret], secret],
  ])('is accepted by the verifiers of two packages with %s', async (_which, secrets, known) => {
    const headers = headersOf(secrets);

    expect(new Webhook(known.reveal()).verify(delivery.body, headers)).toEqual(JSON.parse(delivery.body));
    expect(await openai.webhooks.unwrap(delivery.body, headers, known.reveal())).toEqual(JSON.parse(delivery.body));
  });

  test.each<[string, string, Record<string, string>]>([
    ['another body', delivery.body.replace('1', '2'), headersOf([secret])],
    ['another id', delivery.body, { ...headersOf([secret]), 'webhook-id': 'evt_2' }],
    ['another time', delivery.body, { ...headersOf([secret]), 'webhook-timestamp': String(timestamp - 1) }],
    ['another secret', delivery.body, headersOf([other])],
  ])('is refused by the verifiers of two packages for %s', async (_what, body, headers) => {
    expect(() => new Webhook(secret.reveal()).verify(body, headers)).toThrow('No matching signature found');
    await expect(openai.webhooks.unwrap(body, headers, secret.reveal())).rejects.toThrow('does not match');
  });
});

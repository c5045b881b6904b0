import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { JsonWebKey, KeyObject } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { CallbackSignature } from '@reelgate/adapter-kit';
import { Secret } from '@reelgate/platform/secret';
import { Webhook } from 'standardwebhooks';
import { checkSignature } from './callback-signature.ts';
import type { SignatureFacts } from './callback-signature.ts';

const NOW = 1_790_000_000_000;
const TIME = String(NOW / 1000);
const BODY = Buffer.from('{"id":"work-1","note":"狐"}');
const KEY = Buffer.from('a key of thirty-two bytes, or so').toString('base64');
const STANDARD: CallbackSignature = { form: 'standard-webhooks' };
const TIMESTAMPED: CallbackSignature = { form: 'timestamped-hmac', header: 'X-Upstream-Signature', joiner: ',' };
const ED25519: CallbackSignature = {
  form: 'ed25519',
  header: 'X-Signature',
  signedHeaders: ['X-Request-Id', 'X-User-Id', 'X-Timestamp'],
  timeHeader: 'X-Timestamp',
  keys: 'https://keys.example/jwks.json',
};

const pair = generateKeyPairSync('ed25519');
const otherPair = generateKeyPairSync('ed25519');
const toJwk = (key: KeyObject): JsonWebKey => key.export({ format: 'jwk' });

const toFacts = (secret: string | undefined, keys: readonly JsonWebKey[] | undefined = []): SignatureFacts => ({
  secret: secret === undefined ? undefined : new Secret(secret),
  now: NOW,
  readKeys: async () => keys,
});
const toStandard = (time = TIME, body: Buffer = BODY): Record<string, string> => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': time,
  'webhook-signature': new Webhook(KEY).sign('msg_1', new Date(Number(time) * 1000), body.toString()),
});
const toTimestamped = (time = TIME, joiner = ','): Record<string, string> => ({
  'x-upstream-signature': `t=${time},v1=${createHmac('sha256', 'key')
    .update(time + joiner)
    .update(BODY)
    .digest('hex')}`,
});
const toEd25519 = (time = TIME, key: KeyObject = pair.privateKey): Record<string, string> => {
  const digest = createHash('sha256').update(BODY).digest('hex');
  return {
    'x-request-id': 'req-1',
    'x-user-id': 'user-1',
    'x-timestamp': time,
    'x-signature': sign(null, Buffer.from(['req-1', 'user-1', time, digest].join('\n')), key).toString('hex'),
  };
};
const seconds = (offset: number): string => String(NOW / 1000 + offset);
const PUBLIC = [toJwk(otherPair.publicKey), toJwk(pair.publicKey)];

describe('the signature of a callback', () => {
  test.each<[string, CallbackSignature | undefined, Record<string, string>, SignatureFacts, string]>([
    ['of an upstream that does not sign', undefined, {}, toFacts('key'), 'unsigned'],
    ['in the standard form', STANDARD, toStandard(), toFacts(`whsec_${KEY}`), 'right'],
    [
      'beside others',
      STANDARD,
      { ...toStandard(), 'webhook-signature': `v2,x v1,AAAA ${toStandard()['webhook-signature']}` },
      toFacts(KEY),
      'right',
    ],
    ['without a secret of the channel', STANDARD, toStandard(), toFacts(undefined), 'unsigned'],
    ['with another secret', STANDARD, toStandard(), toFacts(Buffer.from('another').toString('base64')), 'wrong'],
    ['that is absent', STANDARD, {}, toFacts(KEY), 'wrong'],
    ['of another body', STANDARD, toStandard(TIME, Buffer.from('{}')), toFacts(KEY), 'wrong'],
    ['that is 301 seconds old', STANDARD, toStandard(seconds(-301)), toFacts(KEY), 'wrong'],
    ['that is 301 seconds early', STANDARD, toStandard(seconds(301)), toFacts(KEY), 'wrong'],
    ['that is 300 seconds old', STANDARD, toStandard(seconds(-300)), toFacts(KEY), 'right'],
    ['with its time in one header', TIMESTAMPED, toTimestamped(), toFacts('key'), 'right'],
    ['joined by another character', TIMESTAMPED, toTimestamped(TIME, '.'), toFacts('key'), 'wrong'],
    ['in one header, too old', TIMESTAMPED, toTimestamped(seconds(-301)), toFacts('key'), 'wrong'],
    ['in one header that is no signature', TIMESTAMPED, { 'x-upstream-signature': 'v1=zz' }, toFacts('key'), 'wrong'],
    ['in one header, without a secret', TIMESTAMPED, toTimestamped(), toFacts(undefined), 'unsigned'],
    ['by one of the public keys', ED25519, toEd25519(), toFacts(undefined, PUBLIC), 'right'],
    [
      'by no public key',
      ED25519,
      toEd25519(TIME, generateKeyPairSync('ed25519').privateKey),
      toFacts(undefined, PUBLIC),
      'wrong',
    ],
    ['by a key of another kind', ED25519, toEd25519(), toFacts(undefined, [{ kty: 'oct', k: 'AAAA' }]), 'wrong'],
    [
      'whose public keys cannot be read',
      ED25519,
      toEd25519(),
      { ...toFacts(undefined), readKeys: async () => undefined },
      'unchecked',
    ],
    [
      'without one of the signed headers',
      ED25519,
      { ...toEd25519(), 'x-user-id': '' },
      toFacts(undefined, PUBLIC),
      'wrong',
    ],
    ['by a public key, too old', ED25519, toEd25519(seconds(-301)), toFacts(undefined, PUBLIC), 'wrong'],
  ])('%s is judged', async (_what, form, headers, facts, verdict) => {
    expect(await checkSignature(form, { headers, body: BODY }, facts)).toBe(verdict);
  });
});

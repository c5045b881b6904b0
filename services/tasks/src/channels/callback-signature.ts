import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';
import type { CallbackSignature } from '@reelgate/adapter-kit';
import type { CallbackReading, UpstreamCallback } from './channel.ts';

/** A signature is valid for five minutes before and after its time, as each of the upstreams asks. */
const TOLERANCE_SECONDS = 300;
const SIGNATURES_MAX = 16;
const SECONDS = /^\d{1,12}$/;
const HEX = /^[\da-f]+$/i;

export interface SignatureFacts {
  readonly secret: { reveal(): string } | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The public keys of the upstream; undefined if they cannot be read now. */
  readonly readKeys: () => Promise<readonly JsonWebKey[] | undefined>;
}

type Verdict = CallbackReading['signature'];
type Check<F extends CallbackSignature['form']> = (
  form: Extract<CallbackSignature, { form: F }>,
  callback: UpstreamCallback,
  facts: SignatureFacts,
) => Verdict | Promise<Verdict>;

const CHECKS: { readonly [F in CallbackSignature['form']]: Check<F> } = {
  'standard-webhooks': checkStandardWebhook,
  'timestamped-hmac': checkTimestampedHmac,
  ed25519: checkEd25519,
};

/**
 * Checks the signature of a callback. Without a secret, which only the operator can give, it counts as unsigned. Public
 * keys that cannot be read come from the upstream or from an attacker on the way, so they leave it `unchecked`.
 */
export async function checkSignature(
  signature: CallbackSignature | undefined,
  callback: UpstreamCallback,
  facts: SignatureFacts,
): Promise<Verdict> {
  if (signature === undefined) return 'unsigned';
  const check = CHECKS[signature.form] as Check<CallbackSignature['form']>;
  return check(signature, callback, facts);
}

/** https://github.com/standard-webhooks/standard-webhooks: HMAC-SHA256 of id, time and body; several may be given. */
function checkStandardWebhook(_form: unknown, { headers, body }: UpstreamCallback, facts: SignatureFacts): Verdict {
  if (facts.secret === undefined) return 'unsigned';
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': given = '' } = headers;
  if (id === '' || !isRecent(time, facts.now)) return 'wrong';
  const key = Buffer.from(facts.secret.reveal().replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  const signatures = given.split(' ', SIGNATURES_MAX).flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
  return toVerdict(signatures.some((one) => isEqual(Buffer.from(one, 'base64'), expected)));
}

function checkTimestampedHmac(
  { header, joiner }: Extract<CallbackSignature, { form: 'timestamped-hmac' }>,
  { headers, body }: UpstreamCallback,
  facts: SignatureFacts,
): Verdict {
  if (facts.secret === undefined) return 'unsigned';
  const parts = (headers[header.toLowerCase()] ?? '').split(',', SIGNATURES_MAX).map((part) => part.trim().split('='));
  const select = (name: string): readonly string[] =>
    parts.flatMap(([key, value = '']) => (key === name ? [value] : []));
  const [time = ''] = select('t');
  if (!isRecent(time, facts.now)) return 'wrong';
  const expected = createHmac('sha256', facts.secret.reveal())
    .update(time + joiner)
    .update(body)
    .digest();
  return toVerdict(select('v1').some((one) => HEX.test(one) && isEqual(Buffer.from(one, 'hex'), expected)));
}

async function checkEd25519(
  { header, signedHeaders, timeHeader }: Extract<CallbackSignature, { form: 'ed25519' }>,
  { headers, body }: UpstreamCallback,
  { now, readKeys }: SignatureFacts,
): Promise<Verdict> {
  const given = headers[header.toLowerCase()] ?? '';
  const lines = signedHeaders.map((name) => headers[name.toLowerCase()] ?? '');
  if (!HEX.test(given) || lines.includes('') || !isRecent(headers[timeHeader.toLowerCase()] ?? '', now)) return 'wrong';
  const keys = await readKeys();
  if (keys === undefined) return 'unchecked';
  const message = Buffer.from([...lines, createHash('sha256').update(body).digest('hex')].join('\n'));
  return toVerdict(keys.some((key) => isSignedBy(key, message, Buffer.from(given, 'hex'))));
}

/** Reports whether a member of a key set can check a signature by Ed25519. */
export function isEd25519Key(key: unknown): key is JsonWebKey {
  try {
    return createPublicKey({ key: key as JsonWebKey, format: 'jwk' }).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

function isSignedBy(key: JsonWebKey, message: Buffer, signature: Buffer): boolean {
  try {
    return verify(null, message, createPublicKey({ key, format: 'jwk' }), signature);
  } catch {
    // a key of another kind in the set
    return false;
  }
}

function isRecent(seconds: string, now: number): boolean {
  return SECONDS.test(seconds) && Math.abs(now / 1000 - Number(seconds)) <= TOLERANCE_SECONDS;
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function toVerdict(isRight: boolean): Verdict {
  return isRight ? 'right' : 'wrong';
}

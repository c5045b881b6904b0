import { createHmac } from 'node:crypto';
import type { Secret } from '../secret.ts';

const SECRET_PREFIX = 'whsec_';

export interface SignedDelivery {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `webhook-timestamp`, in seconds. */
  readonly timestamp: number;
  readonly body: string | Uint8Array;
}

/** The header `webhook-signature` of Standard Webhooks: one signature for each secret. */
export function signDelivery(secrets: readonly Secret[], { id, timestamp, body }: SignedDelivery): string {
  return secrets
    .map((secret) => {
      const signature = createHmac('sha256', decodeKey(secret)).update(`${id}.${timestamp}.`).update(body);
      return `v1,${signature.digest('base64')}`;
    })
    .join(' ');
}

function decodeKey(secret: Secret): Buffer {
  const text = secret.reveal();
  return Buffer.from(text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : text, 'base64');
}

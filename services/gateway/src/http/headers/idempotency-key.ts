import { Problem } from '@reelgate/platform/problem';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The client's key for a create; undefined if there is none. Refuses an invalid key. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw new Problem({
    kind: 'invalid',
    reason: 'invalid_idempotency_key',
    field: 'Idempotency-Key',
    message: 'must be 1 to 255 visible ASCII characters',
  });
}

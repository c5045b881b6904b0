import { Problem } from '@reelgate/platform/problem';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The client's name for a create; undefined where it gives none, a refusal where it gives a bad one. */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw new Problem({
    kind: 'invalid',
    reason: 'invalid_idempotency_key',
    field: 'Idempotency-Key',
    message: 'must be 1 to 255 visible ASCII characters',
  });
}

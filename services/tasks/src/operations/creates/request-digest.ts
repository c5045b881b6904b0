import { createHash } from 'node:crypto';
import type { JobCall } from '../../domain/job.ts';
import type { Order } from '../../domain/order.ts';

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/**
 * What an idempotency key stands for where its caller gives no fingerprint: everything that was asked for. How it was encoded does not
 * change it, nor does the order of the keys in `extra_json`. Bytes that are kept elsewhere count by the id of their object.
 */
export function orderDigest({ extraJson, ...order }: Order): string {
  return digestOf('order', { ...order, extra: extraJson === undefined ? undefined : canonicalJson(extraJson) });
}

/** The same for a call that is made later; the order of headers of different names does not change it. */
export function callDigest({ headers, ...call }: JobCall, repeatable: boolean): string {
  const inOrder = headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .toSorted(([one], [other]) => compare(one, other));
  return digestOf('call', { ...call, headers: inOrder, repeatable });
}

function digestOf(what: string, value: object): string {
  return `${what}:${createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('base64url')}`;
}

/**
 * Numbers as they were written, and each value with its kind: `1` and `"1"` differ, and so do numbers that the language takes for one.
 * Text that cannot be read stands for itself.
 */
function canonicalJson(text: string): string {
  const tagged: Reviver = (_key, value, { source }) => (typeof value === 'number' ? { number: source } : { value });
  try {
    return JSON.stringify(sorted(JSON.parse(text, tagged as never)));
  } catch {
    return text;
  }
}

/** The same value with the keys of every object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => compare(one, other))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

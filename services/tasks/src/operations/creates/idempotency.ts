import { createHash } from 'node:crypto';
import { toJson } from '@bufbuild/protobuf';
import { JobCallSchema } from '@reelgate/proto/tasks/v1/job';
import type { JobCall } from '@reelgate/proto/tasks/v1/job';
import { removeAnnotations } from '../../domain/annotations.ts';
import type { Order } from '../../domain/order.ts';
import type { BesideOrder } from '../../domain/task.ts';

/** The time in milliseconds for which an idempotency key returns the task or job that it created. */
export const KEY_LIFETIME_MS = 24 * 3600 * 1000;

/**
 * The fingerprint of a create without a fingerprint of its caller. It covers the whole order, independent of its
 * encoding and of the order of the keys in `extra_json`, and the further members of the request. Bytes that are stored
 * elsewhere count by the id of their object. Annotations do not count: a client that repeats a create under another
 * label must find its task, or it would order and pay a second one.
 */
export function digestOrder({ extraJson, ...order }: Order, given: BesideOrder = {}): string {
  const beside = removeAnnotations(given);
  const extra = extraJson === undefined ? undefined : canonicalJson(extraJson);
  const maxAmountNanos = beside.maxAmountNanos?.toString();
  return computeDigest('order', { ...order, extra, ...beside, maxAmountNanos });
}

/** The fingerprint of a job. Neither its annotations change it, nor the order of headers with different names. */
export function digestCall(call: JobCall, repeatable: boolean, webhookUrl?: string): string {
  const { headers = [], ...shown } = removeAnnotations(toJson(JobCallSchema, call));
  const inOrder = headers
    .map(({ name = '', value }) => [name.toLowerCase(), value] as const)
    .toSorted(([one], [other]) => compare(one, other));
  return computeDigest('call', { ...shown, headers: inOrder, repeatable, webhookUrl });
}

function computeDigest(what: string, value: object): string {
  return `${what}:${createHash('sha256')
    .update(JSON.stringify(sortKeys(value)))
    .digest('base64url')}`;
}

/**
 * JSON with sorted keys, numbers as they were written, and each value with its type. `1` and `"1"` differ, and so do
 * numbers that JavaScript cannot distinguish. Text that is not JSON is returned as it is.
 */
function canonicalJson(text: string): string {
  const tagType = (_key: string, value: unknown, context?: { readonly source?: string }): object =>
    typeof value === 'number' ? { number: context?.source } : { value };
  try {
    return JSON.stringify(sortKeys(JSON.parse(text, tagType)));
  } catch {
    return text;
  }
}

/** Sorts the keys of every object in a value. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => compare(one, other))
      .map(([name, inner]) => [name, sortKeys(inner)]),
  );
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

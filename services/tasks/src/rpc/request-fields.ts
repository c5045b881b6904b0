import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';

/** A time that a request may leave out. */
export function readTime(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}

/** The wire cannot distinguish an empty text from an absent one. */
export function emptyToUndefined(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** The size of a page. The wire cannot distinguish zero from absent. */
export function readLimit(limit: number, otherwise: number): number {
  return limit === 0 ? otherwise : limit;
}

/** The idempotency key of a create, with the fingerprint that the request gives, or else the digest. */
export function readIdempotency(
  { idempotencyKey: key, requestFingerprint }: { readonly idempotencyKey: string; readonly requestFingerprint: string },
  digest: () => string,
): { readonly key: string; readonly fingerprint: string } | undefined {
  return key === '' ? undefined : { key, fingerprint: requestFingerprint || digest() };
}

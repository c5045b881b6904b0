import { create } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';

type ReadonlyField<T> = T extends readonly (infer I)[] ? readonly I[] : Readonly<T>;

/** Every field of a message; undefined: it is not set. A message in it is made from all of its fields, too. */
type WireFields<S extends DescMessage> = {
  readonly [K in Exclude<keyof MessageShape<S>, '$typeName' | '$unknown'>]-?:
    ReadonlyField<MessageShape<S>[K]> | undefined;
};

/** Makes a message from all of its fields: a mapping that leaves a field of the contract out does not compile. */
export function toMessage<S extends DescMessage>(schema: S, fields: WireFields<S>): MessageShape<S> {
  // create() leaves undefined fields unset.
  const init: unknown = fields;
  return create(schema, init as MessageInitShape<S>);
}

export function toWireTime(ms: number | undefined): Timestamp | undefined {
  return ms === undefined ? undefined : timestampFromMs(ms);
}

/** A time that a request may leave out. */
export function readTime(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}

/** The wire cannot tell an empty text from an absent one. */
export function emptyToUndefined(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** The size of a page. The wire cannot tell zero from absent. */
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

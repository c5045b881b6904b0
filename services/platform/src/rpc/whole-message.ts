import { create } from '@bufbuild/protobuf';
import type { DescMessage, Message, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';

type ReadonlyField<T> = T extends readonly (infer I)[] ? readonly I[] : Readonly<T>;

/** Every field of a message. A field that is undefined stays unset. */
export type WholeFields<S extends DescMessage> = {
  readonly [K in Exclude<keyof MessageShape<S>, '$typeName' | '$unknown'>]-?:
    ReadonlyField<MessageShape<S>[K]> | undefined;
};

/**
 * Every field of a message, undefined where it is not set. A mapping that satisfies this type cannot leave out a field,
 * and its result is the message itself. On the path of each create, the function `create` is too slow, because it walks
 * through the descriptors.
 */
export type EveryField<M extends Message> = { readonly [K in keyof Omit<M, '$unknown'>]-?: M[K] };

/** Creates a message from all of its fields: code that leaves a field of the contract out does not compile. */
export function toMessage<S extends DescMessage>(schema: S, fields: WholeFields<S>): MessageShape<S> {
  // create() leaves undefined fields unset.
  const init: unknown = fields;
  return create(schema, init as MessageInitShape<S>);
}

export function toTimestamp(ms: number | undefined): Timestamp | undefined {
  return ms === undefined ? undefined : timestampFromMs(ms);
}

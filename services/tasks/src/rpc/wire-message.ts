import { create } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';

/** Every field of a message; undefined: it is not set. */
type WireFields<S extends DescMessage> = {
  readonly [K in Exclude<keyof MessageShape<S>, '$typeName' | '$unknown'>]-?: K extends keyof MessageInitShape<S>
    ? MessageInitShape<S>[K] | undefined
    : never;
};

/** Makes a message from all of its fields: a mapping that leaves a field of the contract out does not compile. */
export function toMessage<S extends DescMessage>(schema: S, fields: WireFields<S>): MessageShape<S> {
  // create() leaves undefined fields unset.
  const init: unknown = fields;
  return create(schema, init as MessageInitShape<S>);
}

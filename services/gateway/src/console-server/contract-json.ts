import { toJson } from '@bufbuild/protobuf';
import type { Message } from '@bufbuild/protobuf';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import type { WholeJson } from '../../console/api/calls.ts';

/** Writes a message as JSON of its contract, for a page. Fields without presence are always there. */
export function toContractJson<M extends Message, J>(
  schema: GenMessage<M, { jsonType: J }>,
  message: M,
): WholeJson<M, J> {
  const json: unknown = toJson(schema, message, { alwaysEmitImplicit: true });
  return json as WholeJson<M, J>;
}

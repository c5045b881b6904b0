import type { Span } from '@reelgate/platform/trace/trace';
import type { Principal } from '../../clients/billing-client.ts';
import type { RelayEndpoint } from '../endpoints.ts';
import type { FormPart } from './form-parts.ts';
import type { CallContent } from '../protocols/protocol.ts';

/** The part of a call that is known before its body is parsed. */
export interface CallRequest {
  readonly endpoint: RelayEndpoint;
  /** As the row of the endpoint has it, with its parameters. */
  readonly path: string;
  /** The query with its question mark, without a credential. It can be empty. */
  readonly search: string;
  /** The forwarded headers: names and values alternate. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly requestId: string;
  /** The span that the call belongs to, undefined if it is not recorded. It is not sent to upstreams. */
  readonly span?: Span | undefined;
  readonly principal: Principal;
  /** The client's label for the charge, undefined if there is none. It is not sent to upstreams. */
  readonly label?: string | undefined;
}

/** The ids of a request that belong to one account of an upstream. */
export interface KeptState {
  /** The field of the first id that the upstream looks up, undefined if any channel can take the call. */
  readonly field: string | undefined;
  /** The ids as the upstream knows them, and as the client sent them. */
  readonly quoted: ReadonlyMap<string, string>;
}

/** A call of a synchronous route as the client sent it. Nothing changes it: each attempt starts from it anew. */
export interface RelayCall extends CallRequest {
  /** The positions of the parts of a form in the body. */
  readonly parts: readonly FormPart[] | undefined;
  /** The content of the body, read-only. */
  readonly content: CallContent;
  /** Public id. */
  readonly model: string;
  /** Set if the request has ids that belong to one account of an upstream. */
  readonly kept?: KeptState;
}

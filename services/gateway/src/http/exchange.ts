import type { ParameterizedContext } from 'koa';
import type { Principal } from '../clients/billing-client.ts';

export interface ExchangeState {
  readonly requestId: string;
  /** The path of the route that matched, with names for what varies; absent where none did. */
  route?: string;
  /** Absent on routes that are open to all. */
  principal?: Principal;
  /** For the log line. */
  taskId?: string;
  /** For the log line of a relayed call: the public id. */
  model?: string;
  /** Set once a create has left this service: from then on its outcome can be uncertain. */
  handedOver?: boolean;
  /** Aborted when the client goes away before it has its answer. */
  readonly gone: AbortSignal;
}

/** One request and its answer. */
export type Exchange = ParameterizedContext<ExchangeState> & { readonly params: Readonly<Record<string, string>> };

/** Who calls, on a route that asks for a token. */
export function principalOf({ state }: Exchange): Principal {
  if (state.principal === undefined) throw new Error('a route that asks for no token has no principal');
  return state.principal;
}

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
  /** Headers that every answer here has, names and values in turn; undefined once they are in the answer. */
  head: string[] | undefined;
  /** Whether the client waits for `100 Continue` before it sends its body. */
  expectsContinue: boolean;
  /** Aborted when the client goes away before it has its answer. */
  readonly gone: AbortSignal;
}

/** One request and its answer. */
export type Exchange = ParameterizedContext<ExchangeState> & { readonly params: Readonly<Record<string, string>> };

/** Puts the headers that every answer has into this one. A route that writes its head in one piece takes them itself. */
export function putHead({ res, state }: Exchange): void {
  const { head } = state;
  if (head === undefined) return;
  state.head = undefined;
  for (let at = 0; at < head.length; at += 2) res.setHeader(head[at] ?? '', head[at + 1] ?? '');
}

/** Who calls, on a route that asks for a token. */
export function principalOf({ state }: Exchange): Principal {
  if (state.principal === undefined) throw new Error('a route that asks for no token has no principal');
  return state.principal;
}

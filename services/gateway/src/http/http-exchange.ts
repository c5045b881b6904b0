import type { ParameterizedContext } from 'koa';
import type { Span } from '@reelgate/platform/trace/trace';
import type { ServerResponse } from 'node:http';
import type { Principal } from '../clients/billing-client.ts';
import type { SignedInOperator } from '../domain/operator-role.ts';

export interface ExchangeState {
  readonly requestId: string;
  /** The address that the request comes from. */
  readonly source: () => string;
  /** The path of the matched route, such as `/v1/videos/{task_id}`; absent if no route matched. */
  route?: string;
  kind?: RouteKind;
  /** Of the whole request. */
  span: Span;
  /** Absent on routes that need no token. */
  principal?: Principal;
  /** The accepted token; absent on routes that do not need a token. */
  token?: string;
  /** The operator who is signed in at the operator console. */
  operator?: SignedInOperator;
  /** For the log line. */
  taskId?: string;
  /** For the log line of a relayed call: the public id. */
  model?: string;
  /** For the log line and the trace: the called tool. */
  tool?: string;
  /** The reason of a refusal, for the metrics. */
  reason?: string;
  /** Set once a create was sent to the tasks service: from then on a failure leaves its outcome uncertain. */
  submitted?: boolean;
  /** True while the client waits for `100 Continue` before it sends its body. */
  expectsContinue: boolean;
  readonly end: ExchangeEnd;
}

/** One request and its answer. */
export type Exchange = ParameterizedContext<ExchangeState> & { readonly params: Readonly<Record<string, string>> };

/** Returns the caller on a route that requires a token. Throws on any other route. */
export function requirePrincipal({ state }: Exchange): Principal {
  if (state.principal === undefined) throw new Error('a route without a token has no principal');
  return state.principal;
}

/**
 * The label by which the objectives of the service level choose their requests: a `create` orders paid work, a `read`
 * and a `stream` show it, a `change` changes or ends it, and an upstream answers a `relay`.
 */
export type RouteKind =
  'create' | 'read' | 'stream' | 'change' | 'relay' | 'callback' | 'page' | 'console' | 'unsupported';

/**
 * The end of an exchange: its response has been sent, or its client has left. One listener serves all parts, because
 * a response warns of more than ten listeners and a listener costs each request time.
 */
export interface ExchangeEnd {
  /** Runs the work at the end; at once if the exchange is over. */
  readonly whenOver: (work: () => void) => void;
  /** Aborted when the client leaves before it has its answer. The signal exists from the first call on. */
  readonly gone: () => AbortSignal;
}

export function exchangeEnd(response: ServerResponse): ExchangeEnd {
  const works: (() => void)[] = [];
  let isOver = false;
  let gone: AbortController | undefined;
  const abortUnanswered = (): void => {
    if (isOver && !response.writableFinished) gone?.abort();
  };
  response.once('close', () => {
    isOver = true;
    abortUnanswered();
    for (const work of works) work();
  });
  return {
    whenOver: (work) => {
      if (isOver) work();
      else works.push(work);
    },
    gone: () => {
      if (gone === undefined) {
        gone = new AbortController();
        abortUnanswered();
      }
      return gone.signal;
    },
  };
}

import type { CallAnswers, PassedCalls, RpcAnswer, RpcName, RpcRequest } from '../api/calls.ts';
import { api, toApiError, setServerClock } from './api.ts';
import { useSending } from './use-act.ts';
import type { ActState } from './use-act.ts';
import { useRead } from './use-view.ts';
import type { View } from './use-view.ts';
import type { Topic } from '../api/stream.ts';

/** A call to an RPC. `A` is its answer. */
export interface RpcCall<A> {
  readonly rpc: RpcName;
  readonly request: object;
  /** Of the type alone. */
  readonly answer?: A;
}

type Calls = Readonly<Record<string, RpcCall<unknown>>>;
type AnswerOf<C> = C extends RpcCall<infer A> ? A : never;
type Answers<C extends Calls> = { readonly [K in keyof C]: AnswerOf<C[K]> };

/** A call to an RPC of a service, for `useCalls` or `sendCall`. */
export function toCall<N extends RpcName>(rpc: N, request: RpcRequest<N>): RpcCall<RpcAnswer<N>> {
  return { rpc, request };
}

/** Calls an RPC. Throws an ApiError. */
export async function sendCall<A>(call: RpcCall<A>, signal?: AbortSignal): Promise<A> {
  const { call: answer } = await sendCalls({ call }, {}, signal);
  return answer;
}

/** The answers to the calls that a page needs, and to those that it can be shown without. */
export type CallsRead<N extends Calls, O extends Calls> = Answers<N> & Partial<Answers<O>>;

/**
 * Reads several RPCs at once, and again when one of the topics changes. A call of `needed` that is refused refuses the
 * read; the answer to a call of `optional` that is refused is undefined.
 */
export function useCalls<N extends Calls>(needed: N, topics?: readonly Topic[]): View<Answers<N>>;
export function useCalls<N extends Calls, O extends Calls>(
  needed: N,
  topics: readonly Topic[],
  optional: O,
): View<CallsRead<N, O>>;
export function useCalls(
  needed: Calls,
  topics: readonly Topic[] = [],
  optional: Calls = {},
): View<CallsRead<Calls, Calls>> {
  const key = JSON.stringify([needed, optional]);
  return useRead({ key, read: ({ signal }) => sendCalls(needed, optional, signal) }, topics);
}

/** Reads several RPCs at once. The answer to a call that is refused is undefined. */
export function readCalls<O extends Calls>(optional: O, signal?: AbortSignal): Promise<Partial<Answers<O>>> {
  return sendCalls({}, optional, signal);
}

/** Carries out an act by an RPC, once for any number of clicks. */
export function useRpc<N extends RpcName>(
  rpc: N,
  onDone?: (answer: RpcAnswer<N>) => void,
): ActState<RpcAnswer<N>, [request: RpcRequest<N>]> {
  return useSending((request: RpcRequest<N>) => sendCall(toCall(rpc, request)), onDone);
}

async function sendCalls<N extends Calls, O extends Calls>(
  needed: N,
  optional: O,
  signal: AbortSignal | undefined,
): Promise<CallsRead<N, O>> {
  const named = Object.entries({ ...optional, ...needed });
  const body: PassedCalls = { calls: named.map(([, { rpc, request }]) => ({ rpc, request })) };
  const { answers, now } = await api<CallAnswers>('/calls', { method: 'POST', body, ...(signal && { signal }) });
  setServerClock(now);
  const read = named.flatMap(([name], at) => {
    const passed = answers[at];
    if (passed !== undefined && 'answer' in passed) return [[name, passed.answer] as const];
    if (!(name in needed)) return [];
    throw passed === undefined ? new Error('an answer is missing') : toApiError(passed.refusal.status, passed.refusal);
  });
  return Object.fromEntries(read) as CallsRead<N, O>;
}

import type { NewId } from '@reelgate/platform/ids';
import { runToOutcome } from '@reelgate/platform/testing/sequences';
import type { Outcome } from '@reelgate/platform/testing/sequences';

/** One call of a port with its arguments. `State` is the content of the model, `Store` the port. */
export interface DrawnCall<State, Store> {
  readonly name: string;
  /** The answer is a list without an order of its own. */
  readonly isUnordered?: boolean;
  /** The id that it gives to a new row. */
  readonly begins?: string;
  /** Reports whether the contract says what comes of this call now. Absent: it always does. */
  readonly isAllowed?: (state: State, at: number) => boolean;
  readonly call: (store: Store, at: number) => Promise<unknown>;
}

/** A drawn call. Its subject is chosen when it runs, so that most calls meet one on which they change something. */
export interface DrawnStep<State, Store> {
  /** Milliseconds between the step before and this one; negative: the clock was set back. */
  readonly afterMs: number;
  /** The process that makes the call. */
  readonly by: 0 | 1;
  readonly bind: (state: State) => DrawnCall<State, Store>;
}

/** A call of a sequence, at its time and by its process. */
export interface BoundCall<Store> {
  readonly name: string;
  readonly begins?: string;
  readonly isUnordered?: boolean;
  readonly call: (store: Store, at: number) => Promise<unknown>;
  readonly at: number;
  readonly by: 0 | 1;
}

/** The stores of two processes on one database. */
export type Processes<Store> = readonly [Store, Store];

/** Binds a step to the content of the model. Undefined: the contract does not say what comes of it. */
export function bindStep<State, Store>(
  { bind, by }: DrawnStep<State, Store>,
  state: State,
  at: number,
): BoundCall<Store> | undefined {
  const call = bind(state);
  return call.isAllowed?.(state, at) === false ? undefined : { ...call, by, at };
}

export async function runBound<Store>(
  { isUnordered, call, by, at }: BoundCall<Store>,
  stores: Processes<Store>,
): Promise<Outcome> {
  const outcome = await runToOutcome(() => call(stores[by], at));
  return 'answer' in outcome && isUnordered === true ? { answer: sortList(outcome.answer) } : outcome;
}

/** A list in an order that follows from its members alone. */
export function sortList(list: unknown): unknown[] {
  return (list as unknown[]).toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/** Ids that are the same on each engine. */
export function countIds(process: string): NewId {
  let ids = 0;
  return (prefix) => `${prefix}_${process}${String((ids += 1)).padStart(6, '0')}`;
}

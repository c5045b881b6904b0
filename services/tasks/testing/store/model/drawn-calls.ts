import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { NewId } from '@reelgate/platform/ids';
import { runToOutcome } from '@reelgate/platform/testing/sequences';
import type { Outcome } from '@reelgate/platform/testing/sequences';

/** Statements around a call that make it leave out what another call locks, as it may beside such a call. */
export interface Detour {
  readonly before: string;
  readonly after: string;
}

/** One call of a port with its arguments. `State` is the content of the model, `Store` the port. */
export interface DrawnCall<State, Store> {
  readonly name: string;
  /** The answer is a list without an order of its own. */
  readonly isUnordered?: boolean;
  /** The id that it gives to a new row. */
  readonly begins?: string;
  /** It locks rows that a call with detours leaves out. */
  readonly locksFlows?: boolean;
  /** What it may do instead beside a call that locks flows. */
  readonly detours?: readonly Detour[];
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

/** The subjects of a call. */
export interface Aims<State, S> {
  /** Those on which it changes something. Most calls take one of these. */
  readonly meant: (state: State) => readonly S[];
  readonly any: (state: State) => readonly S[];
}

/** How the calls of a port are drawn. */
export interface CallDraws<State, Store> {
  /** Draws a call that is about no single row. */
  readonly plain: <T>(
    drawn: Arbitrary<T>,
    make: (drawn: T, state: State) => DrawnCall<State, Store>,
  ) => Arbitrary<DrawnStep<State, Store>['bind']>;
  /** Draws a call for one of its subjects. If there is none, the call is left out. */
  readonly aim: <S, T>(
    aims: Aims<State, S>,
    drawn: Arbitrary<T>,
    make: (subject: S, drawn: T, state: State) => DrawnCall<State, Store>,
  ) => Arbitrary<DrawnStep<State, Store>['bind']>;
}

const SUBJECTS_MAX = 100;
const LEFT_OUT = { name: 'left out', isAllowed: () => false, call: async () => undefined };

/** Of `oneUnaimedOf` calls with a subject, one takes any subject. */
export function newCallDraws<State, Store>(oneUnaimedOf: number): CallDraws<State, Store> {
  const choice = fc.record({ which: fc.nat(SUBJECTS_MAX), isAny: fc.nat(oneUnaimedOf - 1) });
  return {
    plain: (drawn, make) => drawn.map((given) => (state: State) => make(given, state)),
    aim: ({ meant, any }, drawn, make) =>
      fc.tuple(choice, drawn).map(([{ which, isAny }, given]) => (state: State) => {
        const subjects = isAny === 0 ? any(state) : meant(state);
        const subject = subjects[which % Math.max(1, subjects.length)];
        return subject === undefined ? LEFT_OUT : make(subject, given, state);
      }),
  };
}

/** A call of a sequence, at its time and by its process. */
export interface BoundCall<Store> {
  readonly name: string;
  readonly begins?: string;
  readonly isUnordered?: boolean;
  readonly locksFlows?: boolean;
  readonly detours?: readonly Detour[];
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

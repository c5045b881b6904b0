import type { SeedResult } from './run-seed.ts';

/** More runs would find little more, and each takes some seconds. */
const RUNS_MAX = 60;

export interface ShrinkOptions {
  /** The run that broke a rule, and what it did without. */
  readonly first: SeedResult;
  readonly without: ReadonlySet<string>;
  /** The names of all that can be asked for in a run: the acts and calls, then the orders. */
  readonly asked: readonly (readonly string[])[];
  readonly run: (without: ReadonlySet<string>) => Promise<SeedResult>;
  /** Called after each run. */
  readonly onRun: (run: { readonly left: readonly string[]; readonly isSame: boolean }) => void;
}

/** A shorter run that breaks the same rule. */
export interface ShrunkRun {
  readonly result: SeedResult;
  readonly without: ReadonlySet<string>;
  readonly runs: number;
}

/**
 * Leaves out faults, then crashes, then acts, calls and orders, as long as the run breaks the same rule. Nothing else is
 * changed: what is left keeps the choices of its name. Requests, calls and timers are named by their number in the run,
 * so a shorter run can be another one. That is why only the rule decides, and why a run that breaks another rule does
 * not count.
 */
export async function shrinkRun({ first, without, asked, run, onRun }: ShrinkOptions): Promise<ShrunkRun> {
  let shrunk = { result: first, without };
  let runs = 0;
  const tryWithout = async (names: readonly string[]): Promise<boolean> => {
    if (runs >= RUNS_MAX) return false;
    runs += 1;
    const tried = new Set([...shrunk.without, ...names]);
    const result = await run(tried);
    const isSame = result.broken?.rule === first.broken?.rule;
    onRun({ left: names, isSame });
    if (isSame) shrunk = { result, without: tried };
    return isSame;
  };
  /** Leaves out all names at once, or else each half of them by itself, down to single names. */
  const leaveOut = async (names: readonly string[]): Promise<void> => {
    if (names.length === 0 || (await tryWithout(names)) || names.length === 1) return;
    const middle = Math.ceil(names.length / 2);
    await leaveOut(names.slice(0, middle));
    await leaveOut(names.slice(middle));
  };
  await leaveOut(first.faults);
  await leaveOut(shrunk.result.crashNames);
  for (const names of asked) await leaveOut(names.filter((name) => !shrunk.without.has(name)));
  return { ...shrunk, runs };
}

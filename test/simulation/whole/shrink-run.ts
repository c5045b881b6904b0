import type { SeedResult } from './run-seed.ts';

/** The most runs for each kind of name, so that no kind takes the runs of the others. Together they are 80. */
const RUNS_MAX = { orders: 30, faults: 14, crashes: 8, acts: 8, 'orders again': 20 };
type Kind = keyof typeof RUNS_MAX;
/** A shorter run has fewer steps before it breaks the rule, unless it has become another run. */
const MORE_STEPS = 1.25;

export interface ShrinkOptions {
  /** The run that broke a rule, and what it did without. */
  readonly first: SeedResult;
  readonly without: ReadonlySet<string>;
  readonly orders: readonly string[];
  /** The acts of operators, the calls and the stream. */
  readonly acts: readonly string[];
  /** The orders that the broken rule of a run names. They are tried alone first. */
  readonly nameOrders: (result: SeedResult) => readonly string[];
  readonly run: (without: ReadonlySet<string>, stepsMax: number) => Promise<SeedResult>;
  /** Called after each run. */
  readonly onRun: (run: { readonly kind: Kind; readonly left: number; readonly isSame: boolean }) => void;
}

/** A shorter run that breaks the same rule. */
export interface ShrunkRun {
  readonly result: SeedResult;
  readonly without: ReadonlySet<string>;
  readonly runs: number;
}

/**
 * Leaves out orders, then faults, crashes, acts and calls, as long as the run breaks the same rule. Nothing else is
 * changed: what is left keeps the choices of its name. A shorter run can still be another one, because what is left
 * meets at other moments. That is why only the rule decides, and why several partitions are tried.
 */
export async function shrinkRun(options: ShrinkOptions): Promise<ShrunkRun> {
  const { first, acts } = options;
  let shrunk = { result: first, without: options.without };
  let runs = 0;
  const stepsMax = Math.ceil(first.steps * MORE_STEPS);
  const shrink = async (kind: Kind, names: readonly string[], guesses: readonly (readonly string[])[] = []) => {
    const asked = names.filter((name) => !shrunk.without.has(name));
    const before = shrunk.without;
    await minimize(asked, { runsMax: RUNS_MAX[kind], guesses }, async (kept) => {
      runs += 1;
      const without = new Set([...before, ...asked.filter((name) => !kept.includes(name))]);
      const result = await options.run(without, stepsMax);
      const isSame = result.broken?.rule === first.broken?.rule;
      options.onRun({ kind, left: kept.length, isSame });
      if (isSame) shrunk = { result, without };
      return isSame;
    });
  };
  const named = options.nameOrders(first).filter((name) => options.orders.includes(name));
  await shrink('orders', options.orders, named.length === 0 ? [] : [named]);
  await shrink('faults', first.faults);
  await shrink('crashes', shrunk.result.crashNames);
  await shrink('acts', acts);
  // with fewer faults, an order more may be left out
  if (options.orders.filter((name) => !shrunk.without.has(name)).length > 1)
    await shrink('orders again', options.orders);
  return { ...shrunk, runs };
}

interface MinimizeOptions {
  readonly runsMax: number;
  /** Sets of names that are tried first. */
  readonly guesses: readonly (readonly string[])[];
}

/**
 * Looks for few names with which the test still succeeds: no name at all, the guesses, a half or a quarter alone, as long
 * as one succeeds. What cannot be halved any more is searched by halves too, each beside what the other half needs
 * (QuickXplain), so that a few names that are only enough together are found in few runs.
 */
async function minimize(
  names: readonly string[],
  { runsMax, guesses }: MinimizeOptions,
  test: (kept: readonly string[]) => Promise<boolean>,
): Promise<void> {
  const tried = new Set([names.join()]);
  let kept = names;
  let runs = 0;
  const isEnough = async (some: readonly string[]): Promise<boolean> => {
    const set = names.filter((name) => some.includes(name));
    if (runs === runsMax || tried.has(set.join())) return false;
    tried.add(set.join());
    runs += 1;
    if (!(await test(set))) return false;
    kept = set;
    return true;
  };
  const findFirst = async (sets: readonly (readonly string[])[]): Promise<boolean> => {
    for (const set of sets) if (await isEnough(set)) return true;
    return false;
  };
  /** Returns those of the names that are needed beside the base, which is not enough by itself. */
  const findNeeded = async (base: readonly string[], some: readonly string[]): Promise<readonly string[]> => {
    if (some.length <= 1) return some;
    const [front = [], back = []] = splitIntoBlocks(some, 2);
    const ofBack = (await isEnough([...base, ...front])) ? [] : await findNeeded([...base, ...front], back);
    const ofFront = (await isEnough([...base, ...ofBack])) ? [] : await findNeeded([...base, ...ofBack], front);
    return [...ofFront, ...ofBack];
  };
  if (await findFirst([[]])) return;
  await findFirst(guesses);
  const listParts = (parts: number): readonly (readonly string[])[] => [
    ...splitIntoBlocks(kept, parts),
    ...splitIntoStripes(kept, parts),
  ];
  while (kept.length > 1 && ((await findFirst(listParts(2))) || (await findFirst(listParts(4)))));
  await findNeeded([], kept);
}

/** Parts of neighbours, such as the orders of one client. */
function splitIntoBlocks(names: readonly string[], parts: number): readonly (readonly string[])[] {
  return Array.from({ length: parts }, (_none, part) =>
    names.slice(Math.floor((part * names.length) / parts), Math.floor(((part + 1) * names.length) / parts)),
  );
}

/** Parts of names that stand far from each other, such as some orders of each client. */
function splitIntoStripes(names: readonly string[], parts: number): readonly (readonly string[])[] {
  return Array.from({ length: parts }, (_none, part) => names.filter((_name, at) => at % parts === part));
}

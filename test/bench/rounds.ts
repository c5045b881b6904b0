import { closedLoop, inTurns, median, ROUNDS } from './load.ts';
import type { Target } from './load.ts';
import type { Line } from './table.ts';

/** A running program and the calls that it gets. */
export interface Subject {
  readonly target: Target;
  cpuMs(): number;
}

export interface Round {
  /** The processor time of a call. */
  readonly cpuUs: number;
  readonly perSecond: number;
}

/** The same rounds of a program and of its baseline. */
export interface RoundPairs {
  readonly baseline: readonly Round[];
  readonly product: readonly Round[];
}

interface Loop {
  readonly inFlight: number;
  readonly ms: number;
}

export async function roundPairs(
  { baseline, product }: Readonly<Record<keyof RoundPairs, Subject>>,
  loop: Loop,
): Promise<RoundPairs> {
  return inTurns(ROUNDS, { baseline: () => round(baseline, loop), product: () => round(product, loop) });
}

async function round({ target, cpuMs }: Subject, { inFlight, ms }: Loop): Promise<Round> {
  const before = cpuMs();
  const { perSecond, latencies } = await closedLoop(target, inFlight, ms);
  return { perSecond, cpuUs: ((cpuMs() - before) * 1000) / latencies.length };
}

export function linesOfPairs(what: string, { baseline, product }: RoundPairs, goal?: string): readonly Line[] {
  const figures = (name: keyof Round): ReturnType<typeof paired> =>
    paired(
      baseline.map((one) => one[name]),
      product.map((one) => one[name]),
    );
  return [
    { what: `${what}: processor time`, ...figures('cpuUs'), unit: 'us', ...(goal !== undefined && { goal }) },
    { what: `${what}: calls`, ...figures('perSecond'), unit: '/s' },
  ];
}

/** The rounds of several starts as those of one. */
export function joinPairs(starts: readonly RoundPairs[]): RoundPairs {
  return {
    baseline: starts.flatMap(({ baseline }) => baseline),
    product: starts.flatMap(({ product }) => product),
  };
}

/** The medians. The ratio is that of the two sides of a round, which stood beside the same other work. */
export function paired(
  baseline: readonly number[],
  product: readonly number[],
): { readonly figure: number; readonly baseline: number; readonly ratio: number } {
  return {
    figure: median(product),
    baseline: median(baseline),
    ratio: median(product.map((figure, index) => figure / baseline[index]!)),
  };
}

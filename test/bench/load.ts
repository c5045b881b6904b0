import { setTimeout as wait } from 'node:timers/promises';
import { openLine } from './wire.ts';

/** How often a figure is measured. The median counts. */
export const ROUNDS = 5;

/** The milliseconds of each call, and of the whole measurement. */
export interface Measured {
  readonly perSecond: number;
  readonly latencies: readonly number[];
}

/** Sends one request at a time. `body` is for messages about other answers than 200. */
export interface Connection {
  ask(request: Buffer): Promise<{ readonly status: number; readonly body?: Buffer }>;
  close(): void;
}

export interface Target {
  readonly port: number;
  readonly request: () => Buffer;
  /** The default reads answers of a known length. */
  readonly open?: (port: number) => Promise<Connection>;
}

/** Keeps this many calls under way. Any answer but 200 ends the measurement. */
export async function closedLoop(
  { port, request, open = openLine }: Target,
  inFlight: number,
  ms: number,
): Promise<Measured> {
  const lines = await Promise.all(Array.from({ length: inFlight }, () => open(port)));
  const latencies: number[] = [];
  const start = performance.now();
  await Promise.all(
    lines.map(async (line) => {
      while (performance.now() - start < ms) latencies.push(await timed(line, request(), performance.now()));
    }),
  );
  const took = performance.now() - start;
  for (const line of lines) line.close();
  return { perSecond: (latencies.length * 1000) / took, latencies };
}

/** Begins each call at its planned time, even if earlier calls still run, and measures it from that planned time. */
export async function openLoop(
  { port, request, open = openLine }: Target,
  perSecond: number,
  ms: number,
): Promise<Measured> {
  const idle: Connection[] = [];
  const latencies: number[] = [];
  const calls: Promise<void>[] = [];
  const total = Math.floor((perSecond * ms) / 1000);
  const call = async (due: number): Promise<void> => {
    const line = idle.pop() ?? (await open(port));
    latencies.push(await timed(line, request(), due));
    idle.push(line);
  };
  const start = performance.now();
  while (calls.length < total) {
    const due = start + (calls.length * 1000) / perSecond;
    if (due <= performance.now()) calls.push(call(due));
    else await wait(1);
  }
  await Promise.all(calls);
  for (const line of idle) line.close();
  return { perSecond, latencies };
}

async function timed(line: Connection, request: Buffer, since: number): Promise<number> {
  const { status, body } = await line.ask(request);
  if (status !== 200) throw new Error(`an answer of ${status}: ${body?.toString().slice(0, 300) ?? ''}`);
  return performance.now() - since;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/**
 * What each side gave in each round. A round measures every side once, under the same load of the machine. Every second
 * round goes backwards, so that no side is always the first.
 */
export async function inTurns<const Side extends string, Result>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<Result>>>,
): Promise<Readonly<Record<Side, readonly Result[]>>> {
  const names = Object.keys(sides) as Side[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Side, Result[]>;
  for (let round = 0; round < rounds; round += 1)
    for (const name of round % 2 === 0 ? names : names.toReversed()) results[name].push(await sides[name]());
  return results;
}

/** The medians of rounds. A round measures baseline and product in turn, under the same load of the machine. */
export async function byTurns(
  rounds: number,
  baseline: () => Promise<number>,
  product: () => Promise<number>,
): Promise<{ readonly baseline: number; readonly product: number }> {
  const results = await inTurns(rounds, { baseline, product });
  return { baseline: median(results.baseline), product: median(results.product) };
}

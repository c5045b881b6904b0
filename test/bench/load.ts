import { setTimeout as wait } from 'node:timers/promises';
import { openLine } from './wire.ts';
import type { Line } from './wire.ts';

/** The milliseconds of each call, and of the whole measurement. */
export interface Measured {
  readonly perSecond: number;
  readonly latencies: readonly number[];
}

export interface Target {
  readonly port: number;
  readonly request: () => Buffer;
}

/** Keeps this many calls under way. Any answer but 200 ends the measurement. */
export async function closedLoop({ port, request }: Target, inFlight: number, ms: number): Promise<Measured> {
  const lines = await Promise.all(Array.from({ length: inFlight }, () => openLine(port)));
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
export async function openLoop({ port, request }: Target, perSecond: number, ms: number): Promise<Measured> {
  const idle: Line[] = [];
  const latencies: number[] = [];
  const calls: Promise<void>[] = [];
  const total = Math.floor((perSecond * ms) / 1000);
  const call = async (due: number): Promise<void> => {
    const line = idle.pop() ?? (await openLine(port));
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

async function timed(line: Line, request: Buffer, since: number): Promise<number> {
  const { status, body } = await line.ask(request);
  if (status !== 200) throw new Error(`an answer of ${String(status)}: ${body.toString().slice(0, 300)}`);
  return performance.now() - since;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The medians of rounds. A round measures baseline and product in turn, under the same load of the machine. */
export async function byTurns(
  rounds: number,
  baseline: () => Promise<number>,
  product: () => Promise<number>,
): Promise<{ readonly baseline: number; readonly product: number }> {
  const [bases, products]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    bases.push(await baseline());
    products.push(await product());
  }
  return { baseline: median(bases), product: median(products) };
}

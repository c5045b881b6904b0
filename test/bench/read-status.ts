import { startBareKoa } from './bare-koa.ts';
import { startBenchProgram } from './bench-program.ts';
import { closedLoop, inTurns, median, quantile, ROUNDS } from './load.ts';
import type { Measured } from './load.ts';
import type { Line } from './table.ts';
import { statusReads } from './workloads.ts';

const IN_FLIGHT = 64;
const ROUND_MS = 2000;

/** Repeated reads of the same tasks, as clients poll, beside a Koa route that gives a fixed object. */
export async function readStatusBench(): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program');
  const koa = await startBareKoa();
  try {
    const request = await statusReads(bench);
    const read = (port: number): Promise<Measured> => closedLoop({ port, request }, IN_FLIGHT, ROUND_MS);
    for (const { port } of [bench, koa]) await read(port);
    const rounds = await inTurns(ROUNDS, { baseline: () => read(koa.port), product: () => read(bench.port) });
    const line = (what: string, unit: string, goal: string, figure: (one: Measured) => number): Line => ({
      ...{ what: `status read, cached, ${IN_FLIGHT} in flight${what} (baseline: a Koa route)`, unit, goal },
      figure: median(rounds.product.map(figure)),
      baseline: median(rounds.baseline.map(figure)),
    });
    return [
      line('', '/s', 'ratio 0.75', ({ perSecond }) => perSecond),
      line(': p99', 'ms', 'at most 1.5 times', ({ latencies }) => quantile(latencies, 0.99)),
    ];
  } finally {
    koa.stop();
    await bench.end();
  }
}

import { startBareKoa } from './bare-koa.ts';
import { startBenchProgram } from './bench-program.ts';
import { byTurns, closedLoop, ROUNDS } from './load.ts';
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
    for (const { port } of [bench, koa]) await closedLoop({ port, request }, IN_FLIGHT, ROUND_MS);
    const { baseline, product } = await byTurns(
      ROUNDS,
      async () => (await closedLoop({ port: koa.port, request }, IN_FLIGHT, ROUND_MS)).perSecond,
      async () => (await closedLoop({ port: bench.port, request }, IN_FLIGHT, ROUND_MS)).perSecond,
    );
    const what = 'status read, cached, 64 in flight (baseline: a Koa route)';
    return [{ what, figure: product, unit: '/s', baseline, goal: 'ratio 0.6' }];
  } finally {
    koa.stop();
    await bench.end();
  }
}

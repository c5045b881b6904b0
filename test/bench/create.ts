import { natsServer } from '../servers/nats-server.ts';
import { createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { byTurns, closedLoop, openLoop, quantile } from './load.ts';
import { startPrototype } from './prototype.ts';
import type { Line } from './table.ts';

const IN_FLIGHT = 64;
const ROUNDS = 3;
const ROUND_MS = 3000;
const BASELINE_MS = 2000;
const WARM_UP_MS = 3000;
const PACED_WARM_UP_IN_FLIGHT = 16;
const PACED_WARM_UP_MS = 1500;
const OPEN_PER_SECOND = 500;
const OPEN_MS = 5000;

/** Durable creates without media, with all services in one process. */
export async function createBench(): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program');
  try {
    const target = { port: bench.port, request: createRequest };
    // The paced calls come first, before tens of thousands of tasks are polled beside them.
    await closedLoop(target, PACED_WARM_UP_IN_FLIGHT, PACED_WARM_UP_MS);
    const paced = await openLoop(target, OPEN_PER_SECOND, OPEN_MS);
    return [
      ...(await against(bench, { what: 'create, one program, 64 in flight', goal: '3500/s' })),
      { what: 'create, 500/s: p50', figure: quantile(paced.latencies, 0.5), unit: 'ms' },
      { what: 'create, 500/s: p99', figure: quantile(paced.latencies, 0.99), unit: 'ms', goal: 'under 15 ms' },
    ];
  } finally {
    await bench.end();
  }
}

/** Durable creates without media, with four processes that call one another over gRPC. */
export async function grpcCreateBench(): Promise<readonly Line[]> {
  const what = 'create, four processes, 64 in flight';
  const missing = natsServer.missing();
  if (missing !== undefined) return [{ what, skipped: missing }];
  const nats = await natsServer.start();
  if (nats === undefined) return [{ what, skipped: 'NATS did not start' }];
  try {
    const bench = await startBenchProgram('four processes', { bus: nats.url });
    try {
      return await against(bench, { what, goal: '1500/s' });
    } finally {
      await bench.end();
    }
  } finally {
    await nats.stop();
  }
}

async function against(
  bench: BenchProgram,
  line: { readonly what: string; readonly goal: string },
): Promise<readonly Line[]> {
  const prototype = await startPrototype();
  try {
    const product = { port: bench.port, request: createRequest };
    await closedLoop(product, IN_FLIGHT, WARM_UP_MS);
    const cpu = { ms: 0, calls: 0 };
    const { baseline, product: figure } = await byTurns(
      ROUNDS,
      async () =>
        (await closedLoop({ port: prototype.port, request: createRequest }, IN_FLIGHT, BASELINE_MS)).perSecond,
      async () => {
        const before = bench.cpuMs();
        const { perSecond, latencies } = await closedLoop(product, IN_FLIGHT, ROUND_MS);
        cpu.ms += bench.cpuMs() - before;
        cpu.calls += latencies.length;
        return perSecond;
      },
    );
    return [
      { ...line, figure, unit: '/s', baseline },
      // The figure includes the polls of all tasks that run at that time.
      { what: 'processor time for each of them', figure: (cpu.ms * 1000) / cpu.calls, unit: 'us' },
    ];
  } finally {
    prototype.stop();
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../../harness/client.ts';
import { KEYS } from '../../harness/test-config.ts';
import { createRequest, startBenchProgram } from '../bench-program.ts';
import type { BenchProgram } from '../bench-program.ts';
import { closedLoop, inTurns, ROUNDS } from '../load.ts';
import type { Target } from '../load.ts';
import { memoryMiB } from '../media/memory.ts';
import { startRelayBaseline } from '../relay-baseline.ts';
import { linesOfPairs, paired, roundPairs } from '../rounds.ts';
import type { Line } from '../table.ts';
import { requestOf } from '../wire.ts';
import { chatTarget, statusReads } from '../workloads.ts';
import { fillStores } from './fill-stores.ts';

const IN_FLIGHT = 32;
const WARM_UP_MS = 4000;
const LOOP = { inFlight: IN_FLIGHT, ms: 1000 };
const STARTS = 3;
const ENDS = 100;
/** After its last answer an end still settles and makes its thumbnail. */
const END_REST_MS = 2000;
const IDLE_MS = 5000;
const GOAL = '0.9 to 1.1';

type Sides = Readonly<Record<'baseline' | 'product', BenchProgram>>;

/**
 * The paths that users feel, with many ended tasks in the stores and ten times as many lines in the ledger. The
 * baseline is the same program with empty stores.
 */
export async function largeStoresBench(tasks: number): Promise<readonly Line[]> {
  const relay = await startRelayBaseline();
  const programs: BenchProgram[] = [];
  try {
    for (let side = 0; side < 2; side += 1)
      programs.push(await startBenchProgram('one program', { relayTo: relay.port }));
    const [baseline, product] = programs as [BenchProgram, BenchProgram];
    const { entries } = await fillStores(product, tasks);
    return [
      { what: 'ended tasks in the stores', figure: tasks, unit: '' },
      { what: 'lines in the ledger, which balances', figure: entries, unit: '' },
      ...(await measured({ baseline, product })),
    ];
  } finally {
    for (const program of programs) await program.end();
    relay.stop();
  }
}

async function measured(sides: Sides): Promise<readonly Line[]> {
  const of = (what: string): string => `${what} (baseline: empty stores)`;
  const starts = await inTurns(STARTS, each(sides, startMs));
  await wait(IDLE_MS);
  const memory = await inTurns(
    1,
    each(sides, async ({ program }) => memoryMiB(program.pids())),
  );
  const ends = await inTurns(ROUNDS, each(sides, endCostMs));
  const lines: Line[] = [
    { what: of('a start until it is ready'), ...paired(starts.baseline, starts.product), unit: 'ms', goal: GOAL },
    { what: of('memory after its start'), ...paired(memory.baseline, memory.product), unit: 'MiB', goal: GOAL },
    { what: of('an ended task: processor time'), ...paired(ends.baseline, ends.product), unit: 'ms', goal: GOAL },
  ];
  for (const [what, targetOf] of Object.entries(LOADS))
    lines.push(...linesOfPairs(of(what), await pairsOf(sides, targetOf), GOAL));
  return lines;
}

const each = (
  { baseline, product }: Sides,
  measure: (program: BenchProgram) => Promise<number>,
): Readonly<Record<keyof Sides, () => Promise<number>>> => ({
  baseline: () => measure(baseline),
  product: () => measure(product),
});

async function startMs({ program }: BenchProgram): Promise<number> {
  await program.stop();
  const start = performance.now();
  await program.start();
  return performance.now() - start;
}

/** The processor time of one end, with the polls of the others meanwhile. */
async function endCostMs({ program, upstream, cpuMs }: BenchProgram): Promise<number> {
  const caller = httpCaller(program.base, KEYS.demo);
  const from = upstream.ids.length;
  const order = { model: 'Alpha-H3', prompt: 'a red boat', seconds: '5' };
  const ids = await Promise.all(Array.from({ length: ENDS }, () => caller.create('/v1/videos', order)));
  const before = cpuMs();
  for (const id of upstream.ids.slice(from)) upstream.complete(id);
  await Promise.all(ids.map((id) => caller.finish(id)));
  await wait(END_REST_MS);
  return (cpuMs() - before) / ENDS;
}

const LIST = requestOf({ method: 'GET', target: '/v1/videos?limit=20', token: KEYS.demo });

/** Creates come last, because the polls of their tasks go on. */
const LOADS: Readonly<Record<string, (program: BenchProgram) => Target | Promise<Target>>> = {
  'status read': async (bench) => ({ port: bench.port, request: await statusReads(bench) }),
  'a list of the 20 newest tasks': ({ port }) => ({ port, request: () => LIST }),
  'relayed call': chatTarget,
  create: ({ port }) => ({ port, request: createRequest }),
};

async function pairsOf(
  { baseline, product }: Sides,
  targetOf: (program: BenchProgram) => Target | Promise<Target>,
): ReturnType<typeof roundPairs> {
  const subjects = {
    baseline: { target: await targetOf(baseline), cpuMs: () => baseline.cpuMs() },
    product: { target: await targetOf(product), cpuMs: () => product.cpuMs() },
  };
  for (const { target } of Object.values(subjects)) await closedLoop(target, IN_FLIGHT, WARM_UP_MS);
  return roundPairs(subjects, LOOP);
}

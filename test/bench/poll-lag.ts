import { setTimeout as wait } from 'node:timers/promises';
import { KEYS } from '../harness/test-config.ts';
import { seeded } from '../harness/seeded.ts';
import { createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { endsAtOnce } from './ends-at-once.ts';
import { quantile } from './load.ts';
import type { Line } from './table.ts';
import { openLine, requestOf } from './wire.ts';

const TASKS = Number(process.env['REELGATE_BENCH_TASKS'] ?? 10_000);
const CREATORS = 64;
/** The channel's limit of polls, which the benchmark does not reach. */
const POLLS_PER_MINUTE = 600_000;
/** After this time every task is polled at the longest interval. */
const AGEING_MS = 25_000;
const SAMPLES = 300;
const ENDINGS_MS = 15_000;
const WAIT_HEADER = 'prefer: wait=60';

/**
 * The time from the end of a task at the upstream to the answer of a client that waits for it, by polls only: of ends
 * that are spread over time, and of ends at one moment.
 */
export async function pollLagBench(): Promise<readonly Line[]> {
  const spread = await lagBench('by polling', { callbacks: false, goalMs: 16_000 });
  if (process.platform !== 'linux') return spread;
  return [...spread, ...(await endsAtOnce(2000, 15_500)), ...(await endsAtOnce(10_000, 17_000))];
}

/** The same time with callbacks of the upstream. The polls continue beside them. */
export function callbackLagBench(): Promise<readonly Line[]> {
  return lagBench('by callbacks', { callbacks: true, goalMs: 500 });
}

async function lagBench(
  how: string,
  { callbacks, goalMs }: { readonly callbacks: boolean; readonly goalMs: number },
): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program', { pollsPerMinute: POLLS_PER_MINUTE, callbacks });
  try {
    const pairs = await createMany(bench);
    await wait(AGEING_MS);
    const pollsBefore = bench.upstream.polls();
    const { whole } = seeded(1);
    const sampled = pairs.filter((_, index) => index % Math.max(1, Math.floor(pairs.length / SAMPLES)) === 0);
    const start = performance.now();
    const lags = await Promise.all(sampled.map((pair) => lagOf(bench, pair, whole(0, ENDINGS_MS))));
    const polls = ((bench.upstream.polls() - pollsBefore) * 1000) / (performance.now() - start);
    const of = `${TASKS} in flight, ${how}`;
    return [
      { what: `lag to visible, ${of}: p50`, figure: quantile(lags, 0.5), unit: 'ms' },
      {
        what: `lag to visible, ${of}: p99`,
        figure: quantile(lags, 0.99),
        unit: 'ms',
        goal: `under ${goalMs} ms`,
      },
      { what: `polls of the upstream meanwhile, ${how}`, figure: polls, unit: '/s' },
    ];
  } finally {
    await bench.end();
  }
}

interface Pair {
  readonly taskId: string;
  readonly upstreamId: string;
}

/** Creates the tasks. It creates the sampled ones one at a time, so that the order gives their upstream ids. */
async function createMany({ port, upstream }: BenchProgram): Promise<readonly Pair[]> {
  const lines = await Promise.all(Array.from({ length: CREATORS }, () => openLine(port)));
  let left = TASKS - SAMPLES;
  await Promise.all(
    lines.map(async (line) => {
      while ((left -= 1) >= 0) await line.ask(createRequest());
    }),
  );
  const pairs: Pair[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const { body } = await lines[0]!.ask(createRequest());
    pairs.push({ taskId: (JSON.parse(body.toString()) as { id: string }).id, upstreamId: upstream.ids.at(-1)! });
  }
  for (const line of lines) line.close();
  return pairs;
}

async function lagOf({ port, upstream }: BenchProgram, { taskId, upstreamId }: Pair, afterMs: number): Promise<number> {
  const line = await openLine(port);
  let endedAt = Number.POSITIVE_INFINITY;
  void wait(afterMs).then(() => {
    upstream.fail(upstreamId);
    endedAt = performance.now();
  });
  for (;;) {
    const { body } = await line.ask(
      requestOf({ method: 'GET', target: `/v1/videos/${taskId}`, token: KEYS.demo, headers: [WAIT_HEADER] }),
    );
    if ((JSON.parse(body.toString()) as { status: string }).status !== 'failed') continue;
    line.close();
    return performance.now() - endedAt;
  }
}

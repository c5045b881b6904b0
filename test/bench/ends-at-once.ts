import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@reelgate/platform/testing/until';
import { KEYS } from '../harness/test-config.ts';
import { cpuMsOf, createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { quantile } from './load.ts';
import type { Line } from './table.ts';
import { openLine, requestOf } from './wire.ts';

const CREATORS = 64;
const POLLS_PER_MINUTE = 600_000;
/** After this time every task is polled at the longest interval. */
const AGEING_MS = 25_000;
const SAMPLES = 300;
const SETTLED_MS_MAX = 300_000;
/** Between two reads of the metrics, which take the program some milliseconds each. */
const READ_MS = 1000;
/** The confirmations of the settlements follow three seconds later. */
const CONFIRMED_MS = 6000;
/** The target for the processor time of one end. */
const GOAL_MS = 3.5;

/**
 * Tasks that end at one moment at the upstream, each with a video: the time until a waiting client has the answer, and
 * the processor time of the program for one end, from the poll to the confirmed settlement.
 */
export async function endsAtOnce(tasks: number, goalMs: number): Promise<readonly Line[]> {
  const bench = await startBenchProgram('one program', { pollsPerMinute: POLLS_PER_MINUTE });
  try {
    const ids = await created(bench, tasks);
    await wait(AGEING_MS);
    const before = used(bench);
    const sampled = ids.filter((_, index) => index % Math.max(1, Math.floor(tasks / SAMPLES)) === 0);
    const seen = sampled.map((id) => completedAt(bench, id));
    const endedAt = performance.now();
    for (const id of bench.upstream.ids) bench.upstream.complete(id);
    const lags = (await Promise.all(seen)).map((at) => at - endedAt);
    await until(async () => {
      await wait(READ_MS);
      return (await settled(bench)) === tasks;
    }, SETTLED_MS_MAX);
    await wait(CONFIRMED_MS);
    const after = used(bench);
    const of = `${tasks} tasks that end at one moment`;
    const each = (kind: keyof Used): number => (after[kind] - before[kind]) / tasks;
    return [
      { what: `${of}: p50 until seen`, figure: quantile(lags, 0.5), unit: 'ms' },
      { what: `${of}: p99 until seen`, figure: quantile(lags, 0.99), unit: 'ms', goal: `under ${goalMs} ms` },
      { what: `${of}: processor time of one`, figure: each('program'), unit: 'ms', goal: `${GOAL_MS} ms` },
      { what: `${of}: processor time of its parsers`, figure: each('parsers'), unit: 'ms' },
    ];
  } finally {
    await bench.end();
  }
}

async function created({ port }: BenchProgram, tasks: number): Promise<readonly string[]> {
  const ids: string[] = [];
  let left = tasks;
  const create = async (): Promise<void> => {
    const line = await openLine(port);
    while ((left -= 1) >= 0) {
      const { body } = await line.ask(createRequest());
      ids.push((JSON.parse(body.toString()) as { id: string }).id);
    }
    line.close();
  };
  await Promise.all(Array.from({ length: CREATORS }, create));
  return ids;
}

/** When a client that waits for a task knew of its end. */
async function completedAt({ port }: BenchProgram, id: string): Promise<number> {
  const line = await openLine(port);
  const read = { method: 'GET', target: `/v1/videos/${id}`, token: KEYS.demo, headers: ['prefer: wait=60'] };
  for (;;) {
    const { body } = await line.ask(requestOf(read));
    if ((JSON.parse(body.toString()) as { status: string }).status !== 'completed') continue;
    line.close();
    return performance.now();
  }
}

interface Used {
  readonly program: number;
  /** Of the running ones and of those that have ended. */
  readonly parsers: number;
}

function used({ program, cpuMs }: BenchProgram): Used {
  const [pid = 0] = program.pids();
  const parsers = childrenOf(pid).reduce((sum, child) => sum + cpuMsOf(child), endedChildrenMsOf(pid));
  return { program: cpuMs(), parsers };
}

function childrenOf(pid: number): readonly number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

/** By Linux's count, in hundredths of a second. */
function endedChildrenMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** The holds that billing has settled. */
async function settled({ program }: BenchProgram): Promise<number> {
  const text = await (await fetch(`http://${program.config.gateway.admin}/metrics`)).text();
  return Number(/^reelgate_billing_settlements_total\{outcome="usage"\} (\d+)/m.exec(text)?.[1] ?? 0);
}

import { setTimeout as wait } from 'node:timers/promises';
import { newDatabases } from '../../harness/databases.ts';
import { SHAPES } from '../../harness/program.ts';
import { startGatewayReplica, startTasksReplica } from '../../harness/replica.ts';
import { natsServer } from '../../servers/nats-server.ts';
import { postgresServer } from '../../servers/postgres-server.ts';
import { createRequest, startBenchProgram } from '../bench-program.ts';
import type { BenchProgram } from '../bench-program.ts';
import { endWorks } from '../cluster-task/cluster-task.ts';
import { countSettled } from '../cluster-task/count-work.ts';
import { memoryMiB } from '../media/memory.ts';
import { measureOwnMs, measureTreeMs } from '../process-times.ts';
import type { Line } from '../table.ts';
import { openLine } from '../wire.ts';
import type { Line as Connection } from '../wire.ts';
import { newMinutes } from './minutes.ts';
import type { Minutes } from './minutes.ts';
import { every } from './soak.ts';
import { listAttention } from '../../harness/records.ts';

const MINUTE_MS = 60_000;
const MEMORY_EVERY_MS = 2000;
const LOOK_MS = 250;
/** After the last create. */
const SETTLED_MS_MAX = 60_000;
const POLLS_PER_MINUTE = 600_000;
/** Six processes that have just started compile their code on the same cores. What fails then is told apart. */
const WARM_UP = { ms: 20_000, rate: 10 };

interface SoakedCluster {
  readonly bench: BenchProgram;
  /** The ports of both gateways. */
  readonly ports: readonly number[];
  readonly pids: Readonly<Record<string, number>>;
  /** The processor time so far: of each process, and of servers with their children. */
  cpuMs(): Readonly<Record<string, number>>;
}

/**
 * Whole lives of tasks at a rate through two gateways, two processes of tasks, one of billing and one of media, with one
 * PostgreSQL and NATS. Ends when every task is settled and the ledger balances.
 */
export async function clusterSoakBench(minutes: number, rate: number): Promise<readonly Line[]> {
  const reason = natsServer.missing() ?? postgresServer.missing();
  if (reason !== undefined) return [{ what: 'a cluster under load', skipped: reason }];
  const ends: (() => unknown)[] = [];
  try {
    const bus = (await natsServer.start())!;
    ends.push(() => bus.stop());
    const postgres = (await postgresServer.start())!;
    ends.push(() => postgres.stop());
    const databases = await newDatabases(postgres.url);
    const bench = await startBenchProgram('four processes', {
      bus: bus.url,
      databases,
      pollsPerMinute: POLLS_PER_MINUTE,
    });
    ends.push(() => bench.end());
    const { config } = bench.program;
    const tasks = await startTasksReplica({ config });
    ends.push(() => tasks.stop());
    const services = { ...config.gateway.services, tasks: tasks.listen };
    const gateway = await startGatewayReplica({ config: { ...config, gateway: { ...config.gateway, services } } });
    ends.push(() => gateway.stop());
    ends.push(endWorks(bench.upstream));
    const own = bench.program.pids().map((pid, at) => [SHAPES['four processes'][at]!, pid] as const);
    const pids = { ...Object.fromEntries(own), 'second tasks': tasks.pid, 'second gateway': gateway.pid };
    return await soak(
      {
        bench,
        ports: [bench.port, Number(new URL(`http://${gateway.listen}`).port)],
        pids,
        cpuMs: () => ({
          ...Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, measureOwnMs(pid)])),
          PostgreSQL: measureTreeMs(postgres.pid),
          NATS: measureTreeMs(bus.pid),
        }),
      },
      minutes,
      rate,
    );
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function soak(cluster: SoakedCluster, minutes: number, rate: number): Promise<readonly Line[]> {
  const warming = newMinutes();
  await runLoad(cluster, warming, WARM_UP);
  const warmed = await waitForSettled(cluster, warming.calls('create'));
  const seen = newMinutes();
  const before = cluster.cpuMs();
  await runLoad(cluster, seen, { ms: minutes * MINUTE_MS, rate });
  const created = seen.calls('create');
  const settled = (await waitForSettled(cluster, warmed + created)) - warmed;
  const after = cluster.cpuMs();
  const attention = await listAttention(cluster.bench.program);
  const { code, err } = await cluster.bench.program.command('ledger', 'verify');
  // V8 grows the heap of a new process for some minutes, although as many objects are in use as in the first one
  const middle = Math.ceil(minutes / 2);
  const spent = Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / created] as const);
  const what = `a cluster at ${rate}/s`;
  return [
    { what: `${what}: creates that failed in the warm-up`, figure: warming.failed(), unit: '', goal: '0' },
    { what: `${what}: creates`, figure: created, unit: '' },
    { what: `${what}: creates that failed`, figure: seen.failed(), unit: '', goal: '0' },
    ...seen.messages().map((message) => ({ what: `${what}: a failed create`, failed: message })),
    { what: `${what}: tasks that are not settled a minute later`, figure: created - settled, unit: '', goal: '0' },
    { what: `${what}: tasks that wait for a person`, figure: attention.length, unit: '', goal: '0' },
    code === 0
      ? { what: `${what}: the ledger balances`, figure: 1, unit: '', goal: '1' }
      : { what: `${what}: the ledger balances`, failed: err },
    ...[0.5, 0.99].map((share) => ({
      what: `${what}: p${share * 100} of a create, minute ${minutes} (baseline: minute ${middle})`,
      figure: seen.latency(share, 'create', minutes),
      baseline: seen.latency(share, 'create', middle),
      unit: 'ms',
    })),
    ...Object.keys(cluster.pids).map((name) => ({
      what: `${what}: memory of ${name}, minute ${minutes} (baseline: minute ${middle})`,
      figure: seen.memoryIn(minutes, name),
      baseline: seen.memoryIn(middle, name),
      unit: 'MiB',
      goal: 'flat',
    })),
    ...spent.map(([name, ms]) => ({ what: `${what}: processor time of ${name}, each task`, figure: ms, unit: 'ms' })),
  ];
}

async function runLoad(
  { ports, pids }: SoakedCluster,
  seen: Minutes,
  { ms, rate }: { readonly ms: number; readonly rate: number },
): Promise<void> {
  const ending = AbortSignal.timeout(ms);
  const idle = ports.map((): Connection[] => []);
  await Promise.all([
    every(1000 / rate, ending, (turn) => seen.timed('create', () => createOn(ports, idle, turn % ports.length))),
    every(MEMORY_EVERY_MS, ending, () => {
      for (const [name, pid] of Object.entries(pids)) seen.memory(memoryMiB([pid]), name);
    }),
  ]);
  for (const line of idle.flat()) line.close();
}

/** Creates a task through one of the gateways, over a connection that no other call uses. */
async function createOn(ports: readonly number[], idle: readonly Connection[][], at: number): Promise<void> {
  const rested = idle[at]!.splice(0).filter((one) => one.isOpen());
  const line = rested.pop() ?? (await openLine(ports[at]!));
  idle[at]!.push(...rested);
  const { status, body } = await line.ask(createRequest());
  idle[at]!.push(line);
  if (status !== 200) throw new Error(`an answer of ${status}: ${body?.toString().slice(0, 300) ?? ''}`);
}

async function waitForSettled(cluster: SoakedCluster, count: number): Promise<number> {
  for (let waited = 0; waited < SETTLED_MS_MAX; waited += LOOK_MS) {
    if ((await countSettled(cluster)) >= count) break;
    await wait(LOOK_MS);
  }
  return countSettled(cluster);
}

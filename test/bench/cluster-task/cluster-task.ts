import { setTimeout as wait } from 'node:timers/promises';
import { openEventCounter } from '@reelgate/platform/testing/event-counter';
import { newDatabases } from '../../harness/databases.ts';
import { natsServer } from '../../servers/nats-server.ts';
import { postgresServer } from '../../servers/postgres-server.ts';
import { createRequest, startBenchProgram } from '../bench-program.ts';
import { startKoaPosts } from '../koa-posts.ts';
import type { KoaPosts } from '../koa-posts.ts';
import { closedLoop, inTurns, median, openLoop, quantile } from '../load.ts';
import { measureOwnMs } from '../process-times.ts';
import type { Line } from '../table.ts';
import { SERVICES, countSettled, countWork } from './count-work.ts';
import type { Cluster, Work } from './count-work.ts';
import { startCountingPostgres } from './counting-postgres.ts';

/** Low load, and half of what two cores carry. */
const RATES = [15, 40] as const;
const ROUNDS = 3;
const ROUND_MS = 10_000;
/** V8 compiles the code of a new process for most of the first minute, which costs as much as the work. */
const WARM_UP_MS = 60_000;
const KOA_WARM_UP_MS = 10_000;
const WORK_MS = 1000;
const LOOK_MS = 250;
const SETTLED_MS_MAX = 60_000;
/** What is rarer is work of the time and not of a task. */
const CALLS_MIN = 0.05;
/** Whole lives that run at once: more than two cores end within the time from a create to its first poll. */
const LIVES_AT_ONCE = 800;
const CAPACITY_MS = 20_000;
/** Creates that run at once, as many as two cores take. */
const CREATES_AT_ONCE = 64;
const CREATES_MS = 3000;
const POLLS_PER_MINUTE = 600_000;
const TEXT_MAX = 60;

/**
 * Whole lives of tasks in four processes with PostgreSQL and NATS: what each costs by process, what it asks of the
 * others, and how many two cores carry. At a low load everything costs a multiple, because the processor finds its
 * caches cold and sleeps in between; so the baseline gets the same load, in turn.
 */
export async function clusterTaskBench(): Promise<readonly Line[]> {
  const reason = natsServer.missing() ?? postgresServer.missing();
  if (reason !== undefined) return [{ what: 'a task in a cluster', skipped: reason }];
  const ends: (() => unknown)[] = [];
  try {
    const bus = (await natsServer.start())!;
    ends.push(() => bus.stop());
    const postgres = (await startCountingPostgres())!;
    ends.push(() => postgres.stop());
    const databases = await newDatabases(postgres.url);
    const bench = await startBenchProgram('four processes', {
      bus: bus.url,
      databases,
      pollsPerMinute: POLLS_PER_MINUTE,
    });
    ends.push(() => bench.end());
    const events = await openEventCounter(bus.url);
    ends.push(() => events.close());
    const koa = await startKoaPosts(bench.upstream.host);
    ends.push(() => koa.stop());
    ends.push(endWorks(bench.upstream));
    const nats = { pid: bus.pid, countEvents: () => events.count() };
    return await measureCluster({ bench, postgres, databases, nats }, koa);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Ends each task of the upstream a second after its create. Returns what stops that. */
export function endWorks(upstream: Cluster['bench']['upstream']): () => void {
  let seen = 0;
  const timer = setInterval(() => {
    const due = upstream.ids.slice(seen);
    seen = upstream.ids.length;
    setTimeout(() => {
      for (const id of due) upstream.complete(id);
    }, WORK_MS);
  }, LOOK_MS);
  return () => {
    clearInterval(timer);
  };
}

async function measureCluster(cluster: Cluster, koa: KoaPosts): Promise<readonly Line[]> {
  await runLives(cluster, Math.max(...RATES), WARM_UP_MS);
  await openLoop({ port: koa.port, request: createRequest }, Math.max(...RATES), KOA_WARM_UP_MS);
  const lines: Line[] = [];
  for (const rate of RATES) lines.push(...(await measureAt(cluster, koa, rate)));
  return [...lines, ...(await measureCapacity(cluster)), await measureCreateRate(cluster, koa)];
}

interface Round {
  readonly tasks: number;
  readonly latencies: readonly number[];
  /** Per task. */
  readonly ms: Readonly<Record<string, number>>;
  readonly work?: Readonly<Record<'before' | 'after', Work>>;
}

async function measureAt(cluster: Cluster, koa: KoaPosts, rate: number): Promise<readonly Line[]> {
  const rounds = await inTurns(ROUNDS, {
    koa: () => measureKoa(koa, rate),
    product: () => measureLives(cluster, rate),
  });
  const what = `a task at ${rate}/s`;
  const total = ({ ms }: Round): number => Object.values(ms).reduce((sum, one) => sum + one, 0);
  const names = Object.keys(rounds.product[0]?.ms ?? {});
  const costs = Object.fromEntries(names.map((name) => [name, median(rounds.product.map(({ ms }) => ms[name] ?? 0))]));
  const latency = (side: keyof typeof rounds, share: number): number =>
    median(rounds[side].map(({ latencies }) => quantile(latencies, share)));
  return [
    ...listCosts(what, costs),
    {
      what: `${what}: processor time of all (baseline: a Koa route that posts it on)`,
      figure: median(rounds.product.map(total)),
      baseline: median(rounds.koa.map(total)),
      unit: 'ms',
    },
    ...[0.5, 0.99].map((share) => ({
      what: `${what}: p${share * 100} of its create`,
      figure: latency('product', share),
      baseline: latency('koa', share),
      unit: 'ms',
      ...(share > 0.5 && { goal: 'up to 50 ms' }),
    })),
    ...(rate === RATES[0] ? listCounts(rounds.product.at(-1)) : []),
  ];
}

async function measureKoa({ port, pid }: KoaPosts, rate: number): Promise<Round> {
  const before = measureOwnMs(pid);
  const { latencies } = await openLoop({ port, request: createRequest }, rate, ROUND_MS);
  return { tasks: latencies.length, latencies, ms: { koa: (measureOwnMs(pid) - before) / latencies.length } };
}

async function measureLives(cluster: Cluster, rate: number): Promise<Round> {
  const before = await countWork(cluster);
  const latencies = await runLives(cluster, rate, ROUND_MS);
  const after = await countWork(cluster);
  const tasks = latencies.length;
  return { tasks, latencies, ms: divideCosts(before, after, tasks), work: { before, after } };
}

/** The processor time of each task by process. */
function divideCosts(before: Work, after: Work, tasks: number): Round['ms'] {
  return Object.fromEntries(
    Object.entries(after.ms).map(([name, spent]) => [name, (spent - (before.ms[name] ?? 0)) / tasks]),
  );
}

function listCosts(what: string, ms: Round['ms']): readonly Line[] {
  const services = SERVICES.reduce((sum, name) => sum + (ms[name] ?? 0), 0);
  return [
    ...Object.entries(ms).map(([name, figure]) => ({
      what: `${what}: processor time of ${name}`,
      figure,
      unit: 'ms',
      ...(name === 'PostgreSQL' && { goal: 'up to 4 ms' }),
    })),
    { what: `${what}: processor time of the four services`, figure: services, unit: 'ms', goal: 'up to 9 ms' },
  ];
}

/** Creates tasks at a rate, and waits until they are settled. Returns the latencies of the creates. */
async function runLives(cluster: Cluster, rate: number, ms: number): Promise<readonly number[]> {
  const settled = await countSettled(cluster);
  const { latencies } = await openLoop({ port: cluster.bench.port, request: createRequest }, rate, ms);
  await waitForSettled(cluster, settled + latencies.length);
  return latencies;
}

async function waitForSettled(cluster: Cluster, count: number): Promise<void> {
  for (let waited = 0; waited < SETTLED_MS_MAX; waited += LOOK_MS) {
    if ((await countSettled(cluster)) >= count) return;
    await wait(LOOK_MS);
  }
  throw new Error(`${count - (await countSettled(cluster))} tasks are not settled after ${SETTLED_MS_MAX / 1000} s`);
}

/** What one task asks of others, at the lowest rate. */
function listCounts(round: Round | undefined): readonly Line[] {
  if (round?.work === undefined) return [];
  const { tasks } = round;
  const { before, after } = round.work;
  const perTask = (what: string, name: 'commits' | 'logBytes' | 'events' | 'polls', unit = ''): Line => ({
    what: `a task: ${what}`,
    figure: (after[name] - before[name]) / tasks,
    unit,
  });
  const known = new Map(before.statements.map((one) => [nameStatement(one), one]));
  const statements = after.statements
    .map((one) => {
      const { calls, ms } = known.get(nameStatement(one)) ?? { calls: 0, ms: 0 };
      return { ...one, calls: (one.calls - calls) / tasks, ms: (one.ms - ms) / tasks };
    })
    .filter(({ calls }) => calls >= CALLS_MIN)
    .toSorted((one, other) => other.ms - one.ms);
  const sum = (name: 'calls' | 'ms'): number => statements.reduce((total, one) => total + one[name], 0);
  return [
    ...[...after.calls].flatMap(([method, count]) => {
      const figure = (count - (before.calls.get(method) ?? 0)) / tasks;
      return figure < CALLS_MIN ? [] : [{ what: `a task: calls of ${method}`, figure, unit: '' }];
    }),
    perTask('polls', 'polls'),
    perTask('events in NATS', 'events'),
    perTask('transactions', 'commits'),
    perTask('log of PostgreSQL', 'logBytes', 'bytes'),
    { what: 'a task: statements', figure: sum('calls'), unit: '' },
    { what: 'a task: time of its statements in PostgreSQL', figure: sum('ms') * 1000, unit: 'us' },
    ...statements.map(({ service, text, calls, ms }) => ({
      what: `a task: ${calls.toFixed(2)} times in ${service}, ${text.slice(0, TEXT_MAX)}`,
      figure: ms * 1000,
      unit: 'us',
    })),
  ];
}

const nameStatement = ({ service, text }: Work['statements'][number]): string => `${service} ${text}`;

/**
 * The whole lives a second while a fixed number of them runs, and their cost, with the upstream and the clients on the
 * same cores. The cost includes the lives that the last one waits for.
 */
async function measureCapacity(cluster: Cluster): Promise<readonly Line[]> {
  const begin = await countSettled(cluster);
  const before = await countWork(cluster);
  const start = performance.now();
  let created = 0;
  while (performance.now() - start < CAPACITY_MS) {
    const room = LIVES_AT_ONCE - (created - ((await countSettled(cluster)) - begin));
    if (room > 0) {
      const target = { port: cluster.bench.port, request: createRequest };
      created += (await openLoop(target, (room * 1000) / LOOK_MS, LOOK_MS)).latencies.length;
    } else await wait(LOOK_MS);
  }
  const settled = (await countSettled(cluster)) - begin;
  const took = performance.now() - start;
  await waitForSettled(cluster, begin + created);
  const after = await countWork(cluster);
  const what = `a task, ${LIVES_AT_ONCE} at once`;
  return [
    { what: `${what}: from create to settled`, figure: (settled * 1000) / took, unit: '/s', goal: '50' },
    ...listCosts(what, divideCosts(before, after, created)),
  ];
}

/** The creates a second, beside those that a Koa route posts on. The tasks of a round are settled before the next one. */
async function measureCreateRate(cluster: Cluster, koa: KoaPosts): Promise<Line> {
  const create = (port: number) => closedLoop({ port, request: createRequest }, CREATES_AT_ONCE, CREATES_MS);
  const { koa: baseline, product } = await inTurns(ROUNDS, {
    koa: async () => (await create(koa.port)).perSecond,
    product: async () => {
      const settled = await countSettled(cluster);
      const { perSecond, latencies } = await create(cluster.bench.port);
      await waitForSettled(cluster, settled + latencies.length);
      return perSecond;
    },
  });
  return {
    what: `creates, ${CREATES_AT_ONCE} at once (baseline: a Koa route that posts the same body on)`,
    figure: median(product),
    baseline: median(baseline),
    unit: '/s',
    goal: '0.12',
  };
}

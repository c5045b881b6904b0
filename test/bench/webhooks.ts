import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { startHookReceivers } from './hook-receivers.ts';
import type { HookReceivers } from './hook-receivers.ts';
import { inTurns, median, quantile } from './load.ts';
import type { Line } from './table.ts';
import { openLine, requestOf } from './wire.ts';

const TASKS = 2000;
const ENDPOINTS = 50;
/** One that hangs and one that answers 500. */
const SICK = 2;
const ROUNDS = 2;
const CREATORS = 64;
const POLLS_PER_MINUTE = 600_000;
/** After this time every task is polled at the longest interval. */
const AGEING_MS = 25_000;
const SAMPLES = 300;
const HEARD_MS_MAX = 120_000;
const LAG_GOAL_MS = 10_000;
const SLOWER_GOAL = '1.05';

const keyOf = (account: number): string => `sk-hooks-${account}-0123456789`;

/**
 * 2,000 tasks of 50 accounts that end at one moment. Each account has one endpoint; one hangs and one answers 500. The
 * baseline is the same without endpoints.
 */
export async function webhooksBench(): Promise<readonly Line[]> {
  const { without, having } = await inTurns(ROUNDS, { without: () => round(0), having: () => round(ENDPOINTS) });
  const of = (name: 'p99' | 'completionMs' | 'cpuMs') => ({
    figure: median(having.map((one) => one[name])),
    baseline: median(without.map((one) => one[name])),
  });
  const lags = having.flatMap((one) => one.lags);
  const what = `${TASKS} ends at one moment, ${ENDPOINTS} endpoints`;
  return [
    {
      what: `${what}: from the poll that sees the end to it, mean`,
      ...of('completionMs'),
      unit: 'ms',
      goal: SLOWER_GOAL,
    },
    { what: `${what}: p99 until the end is seen`, ...of('p99'), unit: 'ms', goal: SLOWER_GOAL },
    { what: `${what}: processor time of a task, from its end on`, ...of('cpuMs'), unit: 'ms' },
    { what: `${what}: p50 from the end to the delivery`, figure: quantile(lags, 0.5), unit: 'ms' },
    {
      what: `${what}: longest from the end to the delivery`,
      figure: Math.max(...lags),
      unit: 'ms',
      goal: `under ${LAG_GOAL_MS} ms`,
    },
    {
      what: `${what}: deliveries that never came`,
      figure: having.reduce((sum, one) => sum + one.missing, 0),
      unit: '',
    },
  ];
}

interface Round {
  readonly p99: number;
  /** From the poll that sees the end to the end of the task, with its result kept. */
  readonly completionMs: number;
  readonly cpuMs: number;
  readonly lags: readonly number[];
  readonly missing: number;
}

async function round(endpoints: number): Promise<Round> {
  const receivers = await startHookReceivers(ENDPOINTS);
  const bench = await startBenchProgram('one program', {
    pollsPerMinute: POLLS_PER_MINUTE,
    change: withAccounts(receivers),
  });
  try {
    await addEndpoints(bench, receivers.hosts.slice(0, endpoints));
    const tasks = await created(bench);
    await wait(AGEING_MS);
    const cpuBefore = bench.cpuMs();
    const step = Math.max(1, Math.floor(tasks.length / SAMPLES));
    const seen = tasks.filter((_, index) => index % step === 0).map((task) => seenAt(bench, task));
    const endedAt = performance.now();
    for (const id of bench.upstream.ids) bench.upstream.complete(id);
    const lags = (await Promise.all(seen)).map((at) => at - endedAt);
    const expected = endpoints === 0 ? 0 : tasks.filter(({ account }) => account >= SICK).length;
    await until(async () => receivers.heard().length >= expected, HEARD_MS_MAX).catch(() => undefined);
    const heard = receivers.heard();
    return {
      p99: quantile(lags, 0.99),
      completionMs: await completionMs(bench),
      cpuMs: (bench.cpuMs() - cpuBefore) / tasks.length,
      lags: heard.map(({ at, endedAt: end }) => at - end),
      missing: expected - heard.length,
    };
  } finally {
    await bench.end();
    await receivers.stop();
  }
}

/** An account for each endpoint, and the addresses of the receivers, which are private. */
function withAccounts({ hosts }: HookReceivers): (config: TestConfig) => TestConfig {
  const accounts = Array.from({ length: ENDPOINTS }, (_, account) => ({
    id: `hooks-${account}`,
    credit: '1000000.00',
    tokens: [{ key: keyOf(account), models: ['*'] }],
  }));
  return (config) =>
    ({ ...config, webhooks: { allow: hosts }, accounts: [...config.accounts, ...accounts] }) as TestConfig;
}

async function addEndpoints({ program }: BenchProgram, hosts: readonly string[]): Promise<void> {
  for (const [account, host] of hosts.entries()) {
    const { status, text } = await httpCaller(program.base, keyOf(account)).call('POST', '/v1/webhook_endpoints', {
      name: 'bench',
      url: `http://${host}/hook`,
      event_types: ['video.completed', 'video.failed'],
    });
    if (status !== 200) throw new Error(`an endpoint was refused: ${text}`);
  }
}

interface Created {
  readonly id: string;
  readonly account: number;
}

/** The accounts take turns. */
async function created({ port }: BenchProgram): Promise<readonly Created[]> {
  const tasks: Created[] = [];
  let next = 0;
  const create = async (): Promise<void> => {
    const line = await openLine(port);
    while (next < TASKS) {
      const account = next % ENDPOINTS;
      next += 1;
      const { body } = await line.ask(createRequest(keyOf(account)));
      tasks.push({ id: (JSON.parse(body.toString()) as { id: string }).id, account });
    }
    line.close();
  };
  await Promise.all(Array.from({ length: CREATORS }, create));
  return tasks;
}

/** When a client that waits for a task knew of its end. */
async function seenAt({ port }: BenchProgram, { id, account }: Created): Promise<number> {
  const line = await openLine(port);
  const read = { method: 'GET', target: `/v1/videos/${id}`, token: keyOf(account), headers: ['prefer: wait=60'] };
  for (;;) {
    const { body } = await line.ask(requestOf(read));
    if ((JSON.parse(body.toString()) as { status: string }).status !== 'completed') continue;
    line.close();
    return performance.now();
  }
}

/** The poll of a task is somewhere in its interval when the task ends, so the time until it is seen says less. */
async function completionMs({ program }: BenchProgram): Promise<number> {
  const text = await (await fetch(`http://${program.config.gateway.admin}/metrics`)).text();
  const sumOf = (part: 'sum' | 'count'): number =>
    [
      ...text.matchAll(new RegExp(`^reelgate_task_phase_seconds_${part}\\{[^}]*phase="fetch"[^}]*\\} (\\S+)`, 'gm')),
    ].reduce((sum, [, value]) => sum + Number(value), 0);
  return (sumOf('sum') * 1000) / sumOf('count');
}

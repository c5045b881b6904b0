import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@reelgate/platform/testing/until';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import type { Sql } from '@reelgate/platform/sql/sql';
import { newDatabases } from '../harness/databases.ts';
import { SHAPES } from '../harness/program.ts';
import { KEYS } from '../harness/test-config.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { cpuMsOf, createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { closedLoop } from './load.ts';
import type { Line } from './table.ts';
import { requestOf } from './wire.ts';

const WARM_UP_MS = 3000;
const CREATES_MS = 8000;
const POLLS_MS = 20_000;
const READS_MS = 3000;
const IN_FLIGHT = 16;
const ENDS_MS_MAX = 120_000;
const POLLS_PER_MINUTE = 600_000;
const SERVICES = SHAPES['four processes'];

/** The processor milliseconds of each service, and what PostgreSQL has committed and written so far. */
interface Counted {
  readonly cpu: Readonly<Record<string, number>>;
  readonly polls: number;
  readonly commits: number;
  readonly walBytes: number;
}

/**
 * What a task costs in four processes with PostgreSQL and NATS: processor time, which other work on the machine hardly
 * changes, and transactions and bytes of the log of PostgreSQL, which it does not change at all.
 */
export async function taskCostsBench(): Promise<readonly Line[]> {
  const reason = natsServer.missing() ?? postgresServer.missing();
  if (reason !== undefined) return [{ what: 'what a task costs', skipped: reason }];
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const nats = (await natsServer.start())!;
    ends.push(() => nats.stop());
    const postgres = (await postgresServer.start())!;
    ends.push(() => postgres.stop());
    const databases = await newDatabases(postgres.url);
    const bench = await startBenchProgram('four processes', {
      bus: nats.url,
      databases,
      pollsPerMinute: POLLS_PER_MINUTE,
    });
    ends.push(() => bench.end());
    const server = openPostgres(postgres.url, { connections: 1 });
    ends.push(() => server.close());
    return await measured(bench, server);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function measured(bench: BenchProgram, server: Sql): Promise<readonly Line[]> {
  const { upstream, port } = bench;
  const count = (): Promise<Counted> => counted(bench, server);
  await closedLoop({ port, request: createRequest }, IN_FLIGHT, WARM_UP_MS);
  const before = await count();
  const created = (await closedLoop({ port, request: createRequest }, IN_FLIGHT, CREATES_MS)).latencies.length;
  const afterCreates = await count();
  await wait(POLLS_MS);
  const afterPolls = await count();
  // The polls that ran beside the creates and the ends are no part of their costs.
  const poll = costs(afterCreates, afterPolls, afterPolls.polls - afterCreates.polls);
  const create = without(costs(before, afterCreates, created), poll, (afterCreates.polls - before.polls) / created);
  const ended = upstream.ids.length;
  for (const id of upstream.ids) upstream.complete(id);
  const toEnd = await count();
  await until(async () => (await settled(bench)) === ended, ENDS_MS_MAX);
  const afterEnds = await count();
  const end = without(costs(toEnd, afterEnds, ended), poll, (afterEnds.polls - toEnd.polls) / ended);
  const list = requestOf({ method: 'GET', target: '/v1/videos?limit=1', token: KEYS.demo });
  const reads = (await closedLoop({ port, request: () => list }, IN_FLIGHT, READS_MS)).latencies.length;
  const read = costs(afterEnds, await count(), reads);
  return [
    ...linesOf('a create', create),
    ...linesOf('a poll', poll),
    ...linesOf('an end with a small video', end),
    ...linesOf('a read of the newest task', read),
  ];
}

type Costs = Readonly<Record<string, number>>;

function costs(from: Counted, to: Counted, calls: number): Costs {
  return {
    ...Object.fromEntries(SERVICES.map((name) => [name, ((to.cpu[name]! - from.cpu[name]!) * 1000) / calls])),
    commits: (to.commits - from.commits) / calls,
    log: (to.walBytes - from.walBytes) / calls,
  };
}

const without = (whole: Costs, part: Costs, times: number): Costs =>
  Object.fromEntries(Object.entries(whole).map(([name, figure]) => [name, figure - part[name]! * times]));

const UNITS: Readonly<Record<string, string>> = { commits: '', log: 'bytes' };

function linesOf(what: string, all: Costs): readonly Line[] {
  return Object.entries(all).map(([name, figure]) => ({
    what: `${what}: ${name}`,
    figure: Math.max(0, figure),
    unit: UNITS[name] ?? 'us',
  }));
}

async function counted({ program, upstream }: BenchProgram, server: Sql): Promise<Counted> {
  const [row] = await server.read<{ commits: number | bigint; wal: number | bigint }>(
    `SELECT (SELECT SUM(xact_commit)::BIGINT FROM pg_stat_database) AS commits,
            (pg_current_wal_lsn() - '0/0')::BIGINT AS wal`,
  );
  return {
    cpu: Object.fromEntries(program.pids().map((pid, at) => [SERVICES[at]!, cpuMsOf(pid)])),
    polls: upstream.polls(),
    commits: Number(row!.commits),
    walBytes: Number(row!.wal),
  };
}

/** The holds that billing has settled. */
async function settled({ program }: BenchProgram): Promise<number> {
  const text = await (await fetch(`http://${program.config.billing.http}/metrics`)).text();
  return Number(/^reelgate_billing_settlements_total\{outcome="usage"\} (\d+)/m.exec(text)?.[1] ?? 0);
}

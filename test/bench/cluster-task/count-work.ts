import type { BenchProgram } from '../bench-program.ts';
import { measureOwnMs, measureTreeMs } from '../process-times.ts';
import { SHAPES } from '../../harness/program.ts';
import type { CountingPostgres, CountedStatement } from './counting-postgres.ts';

export const SERVICES = SHAPES['four processes'];
const CALLS = /^reelgate_rpc_seconds_count\{method="([^"]+)".*\} (\d+)/;
const SETTLED = /^reelgate_billing_settlements_total\{outcome="usage"\} (\d+)/m;

/** A running cluster and what counts its work. */
export interface Cluster {
  readonly bench: BenchProgram;
  readonly postgres: CountingPostgres;
  readonly databases: Readonly<Record<string, string>>;
  readonly nats: { readonly pid: number; countEvents(): Promise<number> };
}

/** What the cluster has done so far. */
export interface Work {
  /** The processor time by process. */
  readonly ms: Readonly<Record<string, number>>;
  /** The gRPC calls by method. */
  readonly calls: ReadonlyMap<string, number>;
  readonly statements: readonly CountedStatement[];
  readonly commits: number;
  readonly logBytes: number;
  readonly events: number;
  readonly polls: number;
}

export async function countWork({ bench, postgres, databases, nats }: Cluster): Promise<Work> {
  const { program, upstream } = bench;
  const { statements, commits, logBytes } = await postgres.count(databases);
  const pids = program.pids();
  const media = pids[SERVICES.indexOf('media')] ?? 0;
  return {
    ms: {
      ...Object.fromEntries(pids.map((pid, at) => [SERVICES[at], measureOwnMs(pid)])),
      parsers: measureTreeMs(media) - measureOwnMs(media),
      PostgreSQL: measureTreeMs(postgres.pid),
      NATS: measureTreeMs(nats.pid),
    },
    calls: await countCalls(bench),
    ...{ statements, commits, logBytes },
    events: await nats.countEvents(),
    polls: upstream.polls(),
  };
}

/** The tasks that billing has settled. */
export async function countSettled({ bench }: Pick<Cluster, 'bench'>): Promise<number> {
  const { http } = bench.program.config.billing;
  return Number(SETTLED.exec(await readMetrics(http))?.[1] ?? 0);
}

async function countCalls({ program }: BenchProgram): Promise<ReadonlyMap<string, number>> {
  const { tasks, billing, media } = program.config;
  const calls = new Map<string, number>();
  for (const { http } of [tasks, billing, media])
    for (const line of (await readMetrics(http)).split('\n')) {
      const [, method, count] = CALLS.exec(line) ?? [];
      if (method !== undefined) calls.set(method, (calls.get(method) ?? 0) + Number(count));
    }
  return calls;
}

async function readMetrics(http: string): Promise<string> {
  return (await fetch(`http://${http}/metrics`)).text();
}

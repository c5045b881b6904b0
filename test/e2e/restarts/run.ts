import { setTimeout as wait } from 'node:timers/promises';
import { S3_KEYS, startS3Server } from '../../../services/media/testing/s3-server.ts';
import { openOtlpSink } from '@reelgate/platform/testing/otlp-sink';
import type { OtlpSink } from '@reelgate/platform/testing/otlp-sink';
import { newDatabases } from '../../harness/databases.ts';
import { seeded } from '../../harness/seeded.ts';
import { startScriptedUpstream } from '../../harness/scripted-upstream.ts';
import { KEYS, testConfig } from '../../harness/test-config.ts';
import type { TestConfig } from '../../harness/test-config.ts';
import { startLoad } from './load.ts';
import type { Note } from './load.ts';
import { nameReplica, newReplicatedProgram } from './replicas.ts';
import type { ReplicaName, ReplicatedProgram } from './replicas.ts';

const PLENTY = 1_000_000;
const LEAD = { lead: '2s' };
const POLLS = { first: '1s', factor: 3, max: '60s' };
const WARM_UP_MS = 2000;
/** The first restarts after another one come within this time. */
const BETWEEN_MS = [300, 2000] as const;
/** Spans of a request arrive within this time of its end. */
const SPANS_MS = 1500;

export interface RunPlan {
  readonly seed: number;
  readonly createsPerSecond: number;
  readonly inHandMax: number;
  readonly signal: 'SIGTERM' | 'SIGKILL';
  /** Each is restarted once, in a seeded order. */
  readonly replicas: readonly ReplicaName[];
}

/** The URLs of the stores. */
export interface Stores {
  readonly bus: string;
  readonly redis: string;
  readonly postgres: string;
}

/** A request that failed, and where. */
export interface Failure extends Note {
  /** The restart before it, and the milliseconds since then. */
  readonly after: string;
  /** The failed calls of its trace: the process that called, the RPC and the code. */
  readonly chain: readonly string[];
}

export interface RunResult {
  readonly requests: Readonly<Record<string, number>>;
  readonly failures: readonly Failure[];
}

/** Two processes of each service, with an upstream, a bucket and a receiver of traces. */
export interface RestartWorld {
  /** Restarts processes one after the other under load, and says what callers saw. */
  run(plan: RunPlan): Promise<RunResult>;
  close(): Promise<void>;
}

export async function openRestartWorld(stores: Stores): Promise<RestartWorld> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const [sink, upstream, s3] = [await openOtlpSink(), await startScriptedUpstream(), await startS3Server()];
    ends.push(
      () => sink.close(),
      () => upstream.stop(),
      () => s3.close(),
    );
    const blobs = `s3://${s3.bucket}/kept?endpoint=${s3.endpoint}`;
    const config = await configFor(stores, { upstream: upstream.host, sink: sink.endpoint, blobs });
    const program = await newReplicatedProgram(config);
    ends.push(() => program.end());
    await program.start();
    return { run: (plan) => runRestarts(plan, program, sink), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function runRestarts(plan: RunPlan, program: ReplicatedProgram, sink: OtlpSink): Promise<RunResult> {
  const { seed, signal, createsPerSecond, inHandMax } = plan;
  const { pick, whole } = seeded(seed);
  const load = startLoad({ base: program.base, token: KEYS.demo, seed, createsPerSecond, inHandMax });
  await wait(WARM_UP_MS);
  const restarts: { readonly name: string; readonly at: number }[] = [];
  for (const left = [...plan.replicas]; left.length > 0;) {
    const replica = pick(left);
    left.splice(left.indexOf(replica), 1);
    restarts.push({ name: `${signal} ${nameReplica(replica)}`, at: Date.now() });
    await program.restart(replica, signal);
    await wait(whole(...BETWEEN_MS));
  }
  await load.end();
  await wait(SPANS_MS);
  const failed = load.notes.filter(({ status }) => status !== 200);
  return {
    requests: countBy(load.notes, ({ kind }) => kind),
    failures: failed.map((note) => ({
      ...note,
      after: afterWhat(note, restarts),
      chain: listChain(note, sink, program),
    })),
  };
}

export function countBy<T>(some: readonly T[], keyOf: (one: T) => string): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(some, keyOf)].map(([key, { length }]) => [key, length]));
}

function afterWhat({ to }: Note, restarts: readonly { readonly name: string; readonly at: number }[]): string {
  const last = restarts.findLast(({ at }) => at <= to);
  return last === undefined ? 'before any restart' : `${to - last.at} ms after ${last.name}`;
}

/** The failed calls below a request, by its spans, and the lines of the log that name it. */
function listChain({ requestId }: Note, sink: OtlpSink, program: ReplicatedProgram): readonly string[] {
  const traces = new Set(
    sink.spans
      .filter(({ attributes }) => attributes['reelgate.request.id'] === requestId)
      .map(({ traceId }) => traceId),
  );
  const spans = sink.spans.filter(({ traceId, failed }) => failed && traces.has(traceId));
  return [
    ...spans.map(
      ({ name, kind, attributes, resource }) =>
        `${String(resource['service.name'])} ${kind} ${name} ${String(attributes['rpc.status_code'] ?? '')} ${String(attributes['error.type'] ?? '')}`,
    ),
    ...program.linesWith(requestId),
  ];
}

interface Peers {
  readonly upstream: string;
  readonly sink: string;
  readonly blobs: string;
}

/** Limits and money that no load reaches, records of every request, and a bucket for both processes of media. */
async function configFor({ bus, redis, postgres }: Stores, { upstream, sink, blobs }: Peers): Promise<TestConfig> {
  const databases = await newDatabases(postgres);
  const plain = await testConfig({ dir: '/nonexistent', upstream, bus, redis, databases });
  const limits = { ...plain.gateway.limits, creates_per_minute: PLENTY, reads_per_minute: PLENTY };
  const ofChannel = { requests_per_minute: PLENTY, in_flight: PLENTY, polls_per_minute: PLENTY };
  return {
    ...plain,
    gateway: { ...plain.gateway, drain: LEAD, limits },
    tasks: { ...plain.tasks, drain: LEAD, poll: POLLS, in_flight: { per_token: PLENTY, total: PLENTY } },
    billing: { ...plain.billing, drain: LEAD },
    media: { ...plain.media, drain: LEAD, blobs, s3: S3_KEYS, probe: { workers: 1, result_workers: 1 } },
    channels: plain.channels.map((channel) => ({ ...channel, limits: ofChannel })),
    accounts: plain.accounts.map((account) => ({ ...account, credit: '1000000.00' })),
    tracing: { endpoint: sink, sample: { creates: 1, reads: 1, calls: 1 } },
  } as unknown as TestConfig;
}

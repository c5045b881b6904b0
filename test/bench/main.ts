import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { adaptersBench } from './adapters.ts';
import { batchBench } from './batch.ts';
import { billingBench } from './billing/billing.ts';
import { catalogueBench } from './catalogue.ts';
import { clusterTaskBench } from './cluster-task/cluster-task.ts';
import { consolePagesBench } from './console-pages.ts';
import { createBench, grpcCreateBench } from './create.ts';
import { jsonBytesBench } from './json-bytes.ts';
import { mcpWaitsBench } from './mcp-waits.ts';
import { mediaBench } from './media/downloads.ts';
import { inlineBodiesBench } from './media/inline-bodies.ts';
import { largeStoresBench } from './large-stores/large-stores.ts';
import { ownAdaptersBench } from './own-adapters.ts';
import { peersBench } from './peers.ts';
import { callbackLagBench, pollLagBench } from './poll-lag.ts';
import { pollPassBench } from './poll-pass.ts';
import { pollerSimulation } from './poller-simulation.ts';
import { queueFloodBench } from './queue-flood/queue-flood.ts';
import { queueBench } from './queue.ts';
import { readStatusBench } from './read-status.ts';
import { relayBench } from './relay.ts';
import { replicasBench } from './replicas.ts';
import { clusterSoakBench } from './soak/cluster-soak.ts';
import { soakBench } from './soak/soak.ts';
import { startsBench } from './starts.ts';
import { jsonOf, linesOrFailure, table } from './table.ts';
import { taskCostsBench } from './task-costs.ts';
import type { Line } from './table.ts';
import { tracingBench } from './tracing.ts';
import { watchBench } from './watch.ts';
import { webhooksBench } from './webhooks.ts';

type Bench = () => Promise<readonly Line[]>;

const BENCHES: Readonly<Record<string, Bench>> = {
  create: createBench,
  'create-grpc': grpcCreateBench,
  'read-status': readStatusBench,
  catalogue: catalogueBench,
  'poll-lag': pollLagBench,
  'callback-lag': callbackLagBench,
  'poll-pass': pollPassBench,
  'poller-simulation': pollerSimulation,
  'task-costs': taskCostsBench,
  'cluster-task': clusterTaskBench,
  media: mediaBench,
  'media-inline': inlineBodiesBench,
  billing: billingBench,
  relay: relayBench,
  adapters: adaptersBench,
  'own-adapters': ownAdaptersBench,
  'json-bytes': jsonBytesBench,
  watch: watchBench,
  'mcp-waits': mcpWaitsBench,
  webhooks: webhooksBench,
  replicas: replicasBench,
  tracing: tracingBench,
  starts: startsBench,
  queue: queueBench,
  batch: batchBench,
};
const TASKS = '1000000';
const SOAK_MINUTES = '30';
const FLOOD_MINUTES = '5';
const CLUSTER_MINUTES = '5';
const CLUSTER_RATE = '30';
/** A soak compares two of its minutes. */
const LEAST = { tasks: 1, minutes: 2, rate: 1 };
/** These run only if they are named: they install other programs, or take long. */
const NAMED: Readonly<Record<string, Bench>> = {
  peers: peersBench,
  'large-stores': () => largeStoresBench(readNumber('tasks')),
  'console-pages': () => consolePagesBench(readNumber('tasks')),
  soak: () => soakBench(readNumber('minutes', SOAK_MINUTES)),
  'cluster-soak': () => clusterSoakBench(readNumber('minutes', CLUSTER_MINUTES), readNumber('rate', CLUSTER_RATE)),
  'queue-flood': () => queueFloodBench(readNumber('minutes', FLOOD_MINUTES)),
};
const ALL: Readonly<Record<string, Bench>> = { ...BENCHES, ...NAMED };

/** What the figures depend on besides the code. */
const MACHINE = {
  node: process.version,
  system: `${process.platform} ${process.arch}`,
  processor: cpus()[0]?.model ?? 'unknown',
  processors: availableParallelism(),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    tasks: { type: 'string', default: TASKS },
    minutes: { type: 'string' },
    rate: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(ALL, name));
if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(ALL).join(', ')}`);
  process.exitCode = 2;
} else {
  const lines = await run(positionals.length > 0 ? positionals : Object.keys(BENCHES), values.json);
  console.log(table(lines));
  if (lines.some((line) => 'failed' in line)) process.exitCode = 1;
}

/** The file has the figures so far after each benchmark. */
async function run(names: readonly string[], file: string | undefined): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const name of names) {
    console.error(`${name} …`);
    lines.push(...(await linesOrFailure(name, ALL[name]!)));
    if (file !== undefined) writeFileSync(file, jsonOf(lines, MACHINE));
  }
  return lines;
}

function readNumber(option: keyof typeof LEAST, otherwise = TASKS): number {
  const value = Number(values[option] ?? otherwise);
  const least = LEAST[option];
  if (!Number.isSafeInteger(value) || value < least)
    throw new Error(`--${option} is ${values[option] ?? ''}, expected a whole number from ${least}`);
  return value;
}

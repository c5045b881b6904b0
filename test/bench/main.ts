import { billingBench } from './billing/billing.ts';
import { countersBench } from './counters.ts';
import { createBench, grpcCreateBench } from './create.ts';
import { jsonBytesBench } from './json-bytes.ts';
import { mediaBench } from './media/downloads.ts';
import { internalBytesBench } from './media/internal-bytes.ts';
import { inlineBodiesBench } from './media/inline-bodies.ts';
import { callbackLagBench, pollLagBench } from './poll-lag.ts';
import { pollPassBench } from './poll-pass.ts';
import { pollerSimulation } from './poller-simulation.ts';
import { readStatusBench } from './read-status.ts';
import { relayBench } from './relay.ts';
import { replicasBench } from './replicas.ts';
import { table } from './table.ts';
import { taskCostsBench } from './task-costs.ts';
import type { Line } from './table.ts';
import { watchBench } from './watch.ts';

const BENCHES: Readonly<Record<string, () => Promise<readonly Line[]>>> = {
  create: createBench,
  'create-grpc': grpcCreateBench,
  'read-status': readStatusBench,
  'poll-lag': pollLagBench,
  'callback-lag': callbackLagBench,
  'poll-pass': pollPassBench,
  'poller-simulation': pollerSimulation,
  'task-costs': taskCostsBench,
  media: mediaBench,
  'media-bytes': internalBytesBench,
  'media-inline': inlineBodiesBench,
  billing: billingBench,
  relay: relayBench,
  'json-bytes': jsonBytesBench,
  watch: watchBench,
  counters: countersBench,
  replicas: replicasBench,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`);
  process.exitCode = 2;
} else {
  const lines: Line[] = [];
  for (const name of asked.length > 0 ? asked : Object.keys(BENCHES)) {
    console.error(`${name} …`);
    lines.push(...(await BENCHES[name]!()));
  }
  console.log(table(lines));
}

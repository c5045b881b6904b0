import type { Program } from '../harness/program.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { untilSettled } from './books.ts';
import { report } from './invariants.ts';
import type { Simulated } from './invariants.ts';
import { startLoad } from './load.ts';
import type { Load } from './load.ts';

const SETTLED_TIMEOUT_MS = 90_000;
const REST_MS = 300;

export interface Simulation {
  readonly upstream: ScriptedUpstream;
  readonly program: Program;
  readonly seed: number;
  readonly clients: number;
  readonly ordersMin: number;
  readonly ordersMax: number;
  /** Disturbs the program while the load runs. */
  readonly disturb: (load: Load) => Promise<void>;
  readonly settledTimeoutMs?: number;
  readonly isUpstreamWorking?: boolean;
}

/** Starts the program, puts it under load, disturbs it, and waits until every task has ended and is settled. */
export async function simulate({
  upstream,
  program,
  seed,
  clients,
  ordersMin,
  ordersMax,
  disturb,
  settledTimeoutMs = SETTLED_TIMEOUT_MS,
  isUpstreamWorking = false,
}: Simulation): Promise<Simulated> {
  await program.start();
  const client = { base: program.base, token: KEYS.demo, restMs: REST_MS };
  const load = startLoad({ ...client, seed, clients, ordersMax, isUpstreamWorking });
  await disturb(load);
  await load.end(ordersMin);
  const tasks = await untilSettled(program, 'demo', settledTimeoutMs);
  const simulated = { upstream, program, load, tasks, ordersMin };
  report(simulated);
  return simulated;
}

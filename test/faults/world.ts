import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName } from '../cluster/checkout-pods.ts';
import { missingForNetwork } from '../cluster/network.ts';
import type { Pod } from '../cluster/pod.ts';
import { startReelgateCluster } from '../cluster/reelgate-cluster.ts';
import type { ReelgateCluster } from '../cluster/reelgate-cluster.ts';
import { missingStore } from '../cluster/stores.ts';
import { seeded } from '../harness/seeded.ts';
import type { Seeded } from '../harness/seeded.ts';
import type { TestConfig } from '../harness/test-config.ts';

const CREDIT = '1000000.00';
const PLENTY = 100_000;
/** The upstream shares this process with the clients, so it may answer late. */
const SLOW_UPSTREAM = { submit: '20s', poll: '5s' };

/** Each pod of media keeps this number of parsers; the results of this load need no more. */
const FEW_PARSERS = { workers: 1, result_workers: 1 };

/** A cluster that faults are brought to. */
export interface World extends ReelgateCluster {
  readonly chance: Seeded;
  /** Gives each pod of a service that starts from now on a further environment, or none. */
  setEnv(service: ServiceName, env: Readonly<Record<string, string>>): void;
  /** A running pod of the service, by chance. */
  anyPod(service: ServiceName): Pod;
  sleep(ms: number): Promise<void>;
}

/** Why this machine cannot have such a world; undefined if it can. */
export const missingForWorld = (): string | undefined => missingForNetwork() ?? missingStore();

export interface WorldOptions {
  readonly seed: number;
  /** From the stop of a pod until its listeners close, and from readiness until a pod counts as available. */
  readonly leadMs: number;
  readonly minReadyMs: number;
  /** Polls as often as the program does by default; otherwise as often as tests have time for. */
  readonly isPollAsShipped: boolean;
}

export async function startWorld({ seed, leadMs, minReadyMs, isPollAsShipped }: WorldOptions): Promise<World> {
  const chance = seeded(seed);
  const envs = new Map<ServiceName, Readonly<Record<string, string>>>();
  const cluster = await startReelgateCluster({
    seed,
    replicas: 2,
    minReadyMs,
    readinessPeriodMs: 1000,
    env: (service) => envs.get(service) ?? {},
    change: (config) => withPlenty(config, leadMs, isPollAsShipped),
  });
  return Object.assign(cluster, {
    chance,
    setEnv: (service: ServiceName, env: Readonly<Record<string, string>>) => {
      envs.set(service, env);
    },
    anyPod: (service: ServiceName) =>
      chance.pick(cluster.deployments[service].pods.filter(({ isTerminating }) => !isTerminating)),
    sleep: (ms: number) => wait(ms),
  });
}

/** Limits and money that no load reaches, and no long wait for a missing answer of the upstream. */
function withPlenty(config: TestConfig, leadMs: number, isPollAsShipped: boolean): TestConfig {
  const drain = { lead: `${leadMs}ms` };
  const [channel, ...others] = config.channels;
  const limits = { requests_per_minute: PLENTY, in_flight: PLENTY };
  return {
    ...config,
    gateway: { ...config.gateway, drain },
    tasks: {
      ...config.tasks,
      drain,
      in_flight: { per_token: PLENTY, total: PLENTY },
      ...(isPollAsShipped ? { poll: {} } : {}),
    },
    billing: { ...config.billing, drain },
    media: { ...config.media, drain, probe: FEW_PARSERS },
    channels: [{ ...channel!, limits, timeouts: SLOW_UPSTREAM }, ...others],
    accounts: config.accounts.map((account) => ({ ...account, credit: CREDIT })),
  } as TestConfig;
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestConfig } from '../harness/test-config.ts';
import { onMachine } from './container.ts';
import type { DeploymentSpec } from './deployment.ts';
import type { Namespace } from './network.ts';
import type { PodSpec, Probe, Probes } from './pod.ts';

const MAIN = path.join(import.meta.dirname, '../../deploy/program/main.ts');
/** The stores, the upstream and the clients of this machine stand for other machines, so they come before the pods. */
const NICENESS = 5;

export const SERVICES = ['billing', 'media', 'tasks', 'gateway'] as const;
export type ServiceName = (typeof SERVICES)[number];
/** The ports of the services in a cluster. */
export const PORTS = {
  gateway: { public: 8080, admin: 9110 },
  tasks: { grpc: 9101, http: 9111 },
  billing: { grpc: 9102, http: 9112 },
  media: { grpc: 9103, http: 9113 },
} as const;
const PROBED = { gateway: 9110, tasks: 9111, billing: 9112, media: 9113 } as const;
/** From the pause before the stop to SIGKILL. */
const GRACE_MS = { gateway: 150_000, tasks: 60_000, billing: 60_000, media: 120_000 } as const;

/** A pod that answers no readiness probe leaves its Services after this, as with the periods of the manifests. */
const UNREADY_AFTER_MS = 10_000;

export interface CheckoutPods {
  /** The configuration of every pod; the ports and addresses in it are replaced. */
  readonly config: TestConfig;
  readonly folder: string;
  /** The folder for temporary files. */
  readonly temporary: string;
  readonly replicas: number;
  /** Until a new pod counts as available, and the period of the readiness probe. */
  readonly minReadyMs: number;
  readonly readinessPeriodMs: number;
  /** The further environment of each pod of a service that is started from now on. */
  readonly env?: (service: ServiceName) => Readonly<Record<string, string>>;
}

/** One Deployment for each service, which runs the sources of this checkout on the file system of the machine. */
export function checkoutDeployment(service: ServiceName, pods: CheckoutPods): DeploymentSpec {
  return {
    name: service,
    replicas: pods.replicas,
    maxSurge: 1,
    maxUnavailable: 0,
    minReadyMs: pods.minReadyMs,
    pod: (namespace) => checkoutPod(service, pods, namespace),
  };
}

function checkoutPod(service: ServiceName, pods: CheckoutPods, namespace: Namespace): PodSpec {
  const { config, folder, temporary, readinessPeriodMs, env = () => ({}) } = pods;
  const own = path.join(folder, 'pods', namespace.name);
  mkdirSync(own, { recursive: true });
  const file = path.join(own, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify({ ...inCluster(config), data_dir: path.join(own, 'data') }));
  return {
    container: onMachine({
      command: [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, service],
      cwd: own,
      niceness: NICENESS,
      env: {
        PATH: process.env['PATH'] ?? '',
        REELGATE_CONFIG: file,
        TMPDIR: temporary,
        NODE_COMPILE_CACHE: path.join(tmpdir(), 'node-compile-cache'),
        ...env(service),
      },
    }),
    probes: probesOf(PROBED[service], readinessPeriodMs),
    preStopMs: 0,
    graceMs: GRACE_MS[service],
  };
}

function probesOf(port: number, readinessPeriodMs: number): Probes {
  const probe = (target: string, periodMs: number, timeoutMs: number, failureThreshold: number): Probe => ({
    port,
    path: target,
    periodMs,
    timeoutMs,
    failureThreshold,
  });
  return {
    startup: probe('/healthz', 500, 3000, 240),
    liveness: probe('/healthz', 10_000, 3000, 6),
    readiness: probe('/readyz', readinessPeriodMs, 2000, Math.ceil(UNREADY_AFTER_MS / readinessPeriodMs)),
  };
}

/** The same configuration with the addresses that the services have in a cluster. */
function inCluster(config: TestConfig): object {
  const any = (port: number): string => `0.0.0.0:${port}`;
  const { gateway, tasks, billing, media } = PORTS;
  return {
    ...config,
    gateway: {
      ...config.gateway,
      listen: any(gateway.public),
      admin: any(gateway.admin),
      services: {
        tasks: `tasks-grpc:${tasks.grpc}`,
        billing: `billing-grpc:${billing.grpc}`,
        media: `media-grpc:${media.grpc}`,
        media_http: `media:${media.http}`,
      },
    },
    tasks: { ...config.tasks, listen: any(tasks.grpc), http: any(tasks.http) },
    billing: { ...config.billing, listen: any(billing.grpc), http: any(billing.http) },
    media: { ...config.media, listen: any(media.grpc), http: any(media.http) },
  };
}

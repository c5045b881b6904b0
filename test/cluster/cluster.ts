import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seeded } from '../harness/seeded.ts';
import { startDeployment } from './deployment.ts';
import type { Deployment, DeploymentSpec } from './deployment.ts';
import { startNameServer } from './name-server.ts';
import { isAlive, openNetwork } from './network.ts';
import type { Namespace, Network } from './network.ts';
import { startServiceProxy } from './service-proxy.ts';
import type { ServiceProxy } from './service-proxy.ts';

/** From a change of a pod until the names and the proxies know it. */
const PUBLISHED_MS = { least: 500, most: 1000 } as const;
const NAMESPACE = 'reelgate';
const FOLDER = 'reelgate-cluster-';

export interface ServiceSpec {
  readonly name: string;
  /** The Deployment with its pods. */
  readonly selects: string;
  /** A headless Service has the addresses of its pods, any other an address of its own. */
  readonly headless: boolean;
  readonly ports: readonly { readonly port: number; readonly targetPort: number }[];
}

/** A cluster of one machine: pods with addresses, names that follow their readiness, and Services. */
export interface Cluster {
  readonly network: Network;
  /** A folder for the files of the cluster; its `logs` has the output of each pod. */
  readonly folder: string;
  /** Gives a fixed address a name, as a Service without a selector does. */
  name(name: string, address: string): void;
  /** Returns the address of the Service; undefined for a headless one. */
  addService(spec: ServiceSpec): Promise<string | undefined>;
  deploy(spec: DeploymentSpec): Promise<Deployment>;
  /** The deployment that was deployed under this name. */
  deployment(name: string): Deployment;
  /** Ends everything at once and removes what it has made. */
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly seed: number;
  /** Called for the namespace of each new pod, with the machine's address on the bridge. */
  readonly prepared?: ((namespace: Namespace, address: string) => void) | undefined;
}

export async function openCluster({ seed, prepared }: ClusterOptions): Promise<Cluster> {
  const network = openNetwork();
  removeAbandonedFolders();
  const folder = mkdtempSync(path.join(tmpdir(), `${FOLDER}${process.pid}-`));
  const logFolder = path.join(folder, 'logs');
  mkdirSync(logFolder);
  const { chance, whole } = seeded(seed);
  const names = new Map<string, () => readonly string[]>();
  const endpoints = new Map<string, readonly string[]>();
  const deployments = new Map<string, Deployment>();
  const proxies: ServiceProxy[] = [];
  const nameServer = await startNameServer(network.address, (name) => names.get(name)?.());

  const readyOf = (deployment: Deployment): readonly string[] =>
    deployment.pods.filter((pod) => pod.isReady && !pod.isTerminating).map((pod) => pod.namespace.address);
  /** What the pods are now becomes known a moment later. */
  const changed = (name: string) => async (): Promise<void> => {
    const deployment = deployments.get(name);
    if (deployment === undefined) return;
    await wait(whole(PUBLISHED_MS.least, PUBLISHED_MS.most), undefined, { ref: false });
    endpoints.set(name, readyOf(deployment));
  };
  return {
    network,
    folder,
    name: (name, address) => {
      names.set(`${name}.${NAMESPACE}`, () => [address]);
    },
    addService: async ({ name, selects, headless, ports }) => {
      const hosts = (): readonly string[] => endpoints.get(selects) ?? [];
      if (headless) {
        names.set(`${name}.${NAMESPACE}`, hosts);
        return undefined;
      }
      const address = network.addAddress();
      names.set(`${name}.${NAMESPACE}`, () => [address]);
      for (const { port, targetPort } of ports)
        proxies.push(await startServiceProxy({ address, port, targetPort, endpoints: hosts, chance }));
      return address;
    },
    deploy: async (spec) => {
      const update = changed(spec.name);
      const deployment = await startDeployment(spec, {
        network,
        logFolder,
        prepared: (namespace) => prepared?.(namespace, network.address),
        changed: () => void update(),
      });
      deployments.set(spec.name, deployment);
      void update();
      return deployment;
    },
    deployment: (name) => {
      const deployment = deployments.get(name);
      if (deployment === undefined) throw new Error(`there is no deployment ${name}`);
      return deployment;
    },
    close: async () => {
      await Promise.all([...deployments.values()].map((deployment) => deployment.discard()));
      await Promise.all([...proxies, nameServer].map((one) => one.close()));
      network.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function removeAbandonedFolders(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(FOLDER)))
    if (!isAlive(Number(name.slice(FOLDER.length).split('-')[0])))
      rmSync(path.join(tmpdir(), name), { recursive: true, force: true });
}

import path from 'node:path';
import { parse, stringify } from 'yaml';
import { S3_KEYS, startS3Server } from '../../services/media/testing/s3-server.ts';
import { newDatabases } from '../harness/databases.ts';
import { buildRoot, missingForRoot } from '../image/build-root.ts';
import { renderOverlay } from '../manifests/render.ts';
import type { KubernetesObject } from '../manifests/render.ts';
import { missingTools } from '../manifests/tools.ts';
import { openCluster } from './cluster.ts';
import type { Cluster, ClusterOptions } from './cluster.ts';
import type { Deployment } from './deployment.ts';
import { deploymentsOf, servicesOf } from './manifests.ts';
import { missingForNetwork } from './network.ts';
import { STORES, missingStore, startStore } from './stores.ts';

const SERVICES = ['gateway', 'tasks', 'billing', 'media'] as const;
/** The rendered address of the sandbox's Service. Here a Service has an address of the private bridge. */
const SANDBOX_ADDRESS = '10.96.200.200';

/** Why the rendered Deployments cannot run on this machine; undefined if they can. */
export const missingForRendered = (): string | undefined =>
  missingForNetwork() ?? missingStore() ?? missingForRoot() ?? missingTools('kustomize');

/** A change of the configuration that a ConfigMap holds. */
export type Change = (file: string, config: Record<string, unknown>) => Record<string, unknown>;

export interface RenderedClusterOptions extends ClusterOptions {
  readonly replicas: number;
  /** Changes the files of the ConfigMaps. By default they stay as they are, but for the addresses of the stores. */
  readonly change?: Change;
  /** Values of Secrets in place of the rendered ones, by `name/key`. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** The overlay `local` as it is rendered, with stores of this machine in place of its StatefulSets. */
export interface RenderedCluster {
  readonly cluster: Cluster;
  /** The public address. */
  readonly base: string;
  /** The address of each Service that has one. */
  readonly addresses: ReadonlyMap<string, string>;
  readonly deployments: readonly Deployment[];
  available(): Promise<void>;
  close(): Promise<void>;
}

export async function startRenderedCluster(options: RenderedClusterOptions): Promise<RenderedCluster> {
  const cluster = await openCluster(options);
  const s3 = await startS3Server(cluster.network.address);
  const close = async (): Promise<void> => {
    await cluster.close();
    await s3.close();
  };
  try {
    return await assemble(cluster, s3, options, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function assemble(
  cluster: Cluster,
  s3: { readonly bucket: string; readonly endpoint: string },
  { replicas, change = (_file, config) => config, secrets = {} }: RenderedClusterOptions,
  close: () => Promise<void>,
): Promise<RenderedCluster> {
  const stores = await Promise.all(STORES.map((name) => startStore(cluster, name)));
  await newDatabases(`postgres://postgres@${stores[0]!.address}:5432/postgres`);
  const { objects } = renderOverlay('local');
  const services = servicesOf({ objects, root: '', folder: '' });
  const addresses = new Map<string, string>();
  for (const service of services) {
    const address = await cluster.addService(service);
    if (address !== undefined) addresses.set(service.name, address);
  }
  const base = `http://${String(addresses.get('gateway'))}`;
  const known: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      ['tasks', 'billing', 'media'].map((name) => [
        `reelgate-${name}/database-url`,
        `postgres://postgres@postgres:5432/${name}`,
      ]),
    ),
    'reelgate-media/access-key-id': S3_KEYS.access_key_id,
    'reelgate-media/secret-access-key': S3_KEYS.secret_access_key,
    ...secrets,
  };
  const own = (file: string, config: Record<string, unknown>): Record<string, unknown> =>
    change(file, withOwnAddresses(config, base, `s3://${s3.bucket}/media?endpoint=${s3.endpoint}`));
  const changed = objects.map((object) =>
    withAddress(withSecrets(withConfig(object, own), known), String(addresses.get('sandbox'))),
  );
  const manifests = { objects: changed, root: buildRoot(), folder: path.join(cluster.folder, 'volumes') };
  const deployments = await Promise.all(
    deploymentsOf(manifests, replicas).map((spec) =>
      cluster.deploy((SERVICES as readonly string[]).includes(spec.name) ? spec : { ...spec, replicas: 1 }),
    ),
  );
  const available = async (): Promise<void> => {
    await Promise.all(deployments.map((deployment) => deployment.available()));
  };
  return { cluster, base, addresses, deployments, available, close };
}

/** The public address and the bucket of this machine. */
function withOwnAddresses(config: Record<string, unknown>, base: string, blobs: string): Record<string, unknown> {
  const { media } = config as { media?: { blobs?: string } };
  return {
    ...config,
    ...(config['public_url'] === undefined ? {} : { public_url: base }),
    ...(media?.blobs === undefined ? {} : { media: { ...media, blobs } }),
  };
}

function withConfig(object: KubernetesObject, change: Change): KubernetesObject {
  if (object.kind !== 'ConfigMap') return object;
  const data = Object.entries(object.data ?? {}).map(([file, text]) => [
    file,
    file.endsWith('.yaml') ? stringify(change(file, parse(text) as Record<string, unknown>)) : text,
  ]);
  return { ...object, data: Object.fromEntries(data) as Record<string, string> };
}

/** The names of generated Secrets end in a hash of their content. */
function withSecrets(object: KubernetesObject, known: Readonly<Record<string, string>>): KubernetesObject {
  if (object.kind !== 'Secret') return object;
  const name = object.metadata.name.replace(/-[0-9a-z]{10}$/, '');
  const data = Object.entries(object.data ?? {}).map(([key, value]) => {
    const own = known[`${name}/${key}`];
    return [key, own === undefined ? value : Buffer.from(own).toString('base64')];
  });
  return { ...object, data: Object.fromEntries(data) as Record<string, string> };
}

function withAddress(object: KubernetesObject, sandbox: string): KubernetesObject {
  return JSON.parse(JSON.stringify(object).replaceAll(SANDBOX_ADDRESS, sandbox)) as KubernetesObject;
}

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'yaml';
import { acceptOnly } from '@reelgate/platform/secret';
import { deriveServiceKey } from '../../deploy/program/keys/service-key.ts';
import { SERVICE_NAMES } from '../../deploy/program/keys/identities.ts';
import { openSigningKey } from '../../deploy/program/keys/signing-key.ts';
import { forward } from './forward.ts';
import type { Namespace } from './network.ts';
import { startRenderedCluster } from './rendered-cluster.ts';
import type { Change } from './rendered-cluster.ts';
import { startServiceProxy } from './service-proxy.ts';

/*
 * What the contract suite starts in place of `npm start`: the rendered Deployments, two replicas each, with the lists
 * and the limits of the suite's configuration. The suite's upstreams and media listen on loopback, and so does what it
 * calls, so the loopback ports of the suite lead into the pods, and those of the pods to the suite.
 */
const LOOPBACK = '127.0.0.1';
const ADDRESSES = /127\.0\.0\.1:(\d+)/g;
const CONNECTED_WAIT_MS = 250;
const CONNECTED_WAITS_MAX = 240;
const FORWARD = path.join(import.meta.dirname, 'forward.ts');

interface SuiteConfig {
  readonly public_url: string;
  readonly data_dir: string;
  readonly gateway: { readonly listen: string; readonly limits: object };
  readonly tasks: { readonly listen: string; readonly in_flight: object; readonly poll: object };
  readonly billing: { readonly listen: string };
  readonly media: { readonly listen: string; readonly http: string; readonly results: object; readonly fetch: object };
  readonly accounts: readonly { readonly id: string; readonly credit: string; readonly tokens: unknown }[];
  readonly [list: string]: unknown;
}

const text = readFileSync(process.env['REELGATE_CONFIG'] ?? '', 'utf8').replaceAll(/\$\{\w+:-\}/g, '');
const config = parse(text) as SuiteConfig;
const portOf = (listen: string): number => Number(listen.split(':').at(-1));
const own = [config.gateway, config.tasks, config.billing, config.media].map(({ listen }) => portOf(listen));
const mentioned = [...new Set([...text.matchAll(ADDRESSES)].map(([, port]) => Number(port)))];
const open = await Promise.all(mentioned.filter((port) => !own.includes(port)).map(isOpen));
const ofSuite = open.filter((port) => port !== undefined);

const keys = acceptOnly(openSigningKey(config.data_dir, undefined));
const world = await startRenderedCluster({
  seed: 1,
  replicas: 2,
  secrets: Object.fromEntries(
    SERVICE_NAMES.map((name) => [`reelgate-keys/${name}`, deriveServiceKey(name, keys).reveal()]),
  ),
  change: forSuite,
  prepared: (namespace, address) => {
    leadTo(namespace, address, [...ofSuite, portOf(config.gateway.listen)]);
  },
});
const { cluster, addresses } = world;
const stop = (): void => {
  void world.close().finally(() => process.exit(0));
};
process.once('SIGTERM', stop).once('SIGINT', stop);
forward(cluster.network.address, LOOPBACK, [...ofSuite, portOf(config.gateway.listen)]);
for (const [name, port] of [
  ['tasks', 9101],
  ['billing', 9102],
  ['media', 9103],
] as const) {
  const service = { name: `${name}-suite`, selects: name, headless: false, ports: [{ port, targetPort: port }] };
  await serve(config[name].listen, await cluster.addService(service), port);
}
await world.available();
for (const { pods } of world.deployments)
  for (const { name, namespace } of pods)
    if (name.includes('gateway')) await untilConnected(`http://${namespace.address}:9110/metrics`);
// The suite begins as soon as this port is open, and none of its requests is to come before the first connections.
await serve(config.gateway.listen, addresses.get('gateway'), 80);

/** Resolves when the pod has reached each of its peers. */
async function untilConnected(metrics: string): Promise<void> {
  for (let waits = 0; waits < CONNECTED_WAITS_MAX; waits += 1) {
    const text = await fetch(metrics).then(
      (response) => response.text(),
      () => '',
    );
    const peers = [...text.matchAll(/^reelgate_peer_up\{[^}]*\} (\d)$/gm)].map(([, isUp]) => isUp);
    if (peers.length > 0 && peers.every((isUp) => isUp === '1')) return;
    await wait(CONNECTED_WAIT_MS);
  }
  throw new Error(`${metrics} does not show every peer as reached`);
}

/** Opens a loopback port of the suite that leads to a Service. */
async function serve(listen: string, address: string | undefined, targetPort: number): Promise<void> {
  const endpoints = (): readonly string[] => [String(address)];
  await startServiceProxy({ address: LOOPBACK, port: portOf(listen), endpoints, targetPort, chance: () => 0 });
}

/** The suite's part of a file of a ConfigMap; the rest stays as it is rendered. */
function forSuite(...[file, rendered]: Parameters<Change>): Record<string, unknown> {
  const { gateway, tasks, media, accounts } = config;
  const section = (name: string, more: object): object => ({ [name]: { ...(rendered[name] as object), ...more } });
  const parts: Readonly<Record<string, object>> = {
    'install.yaml': { public_url: config.public_url },
    'gateway.yaml': section('gateway', { limits: gateway.limits }),
    'tasks.yaml': section('tasks', { in_flight: tasks.in_flight, poll: tasks.poll }),
    'install-media.yaml': section('media', { results: media.results, fetch: media.fetch }),
    'models.yaml': { models: config['models'] },
    'channels.yaml': { channels: config['channels'] },
    'prices.yaml': { prices: config['prices'] },
    'accounts.yaml': { accounts: accounts.map(({ id, credit }) => ({ id, credit })) },
    'tokens.yaml': { accounts: accounts.map(({ id, tokens }) => ({ id, tokens })) },
  };
  return { ...rendered, ...parts[file] };
}

/** Leads loopback ports of a pod to those of the machine. The process ends with the pod's namespace. */
function leadTo({ name }: Namespace, address: string, ports: readonly number[]): void {
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', FORWARD];
  spawn('ip', ['netns', 'exec', name, ...program, LOOPBACK, address, ...ports.map(String)], { stdio: 'ignore' });
}

/** The port if a server listens there. A closed one stays closed to the pods. */
function isOpen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(port);
    });
    socket.once('error', () => {
      resolve(undefined);
    });
  });
}

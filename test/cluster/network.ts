import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { findProgram } from '../servers/find-program.ts';

/** `ip netns exec` mounts each file of a namespace's folder here over the one of that name in /etc. */
const NAMESPACE_FILES = '/etc/netns';
const OWNED = /^rg(\d+)-/;
const SUBNETS = 250;
/** The last part of an address: pods have the lower ones, Services the higher ones. */
const FIRST_POD = 10;
const LAST_POD = 200;
const LAST_SERVICE = 250;
/** No interface has this hardware address, so the bridge delivers its frames to no pod. */
const LOST_HARDWARE_ADDRESS = '02:00:00:00:00:01';
/**
 * A bridge without an address of its own takes the lowest one of its links, so it changes with the pods. A pod that has
 * learned the old one then reaches no Service for many seconds.
 */
const BRIDGE_HARDWARE_ADDRESS = '02:00:00:00:00:02';
const SEARCHED = 'reelgate.svc.cluster.local svc.cluster.local cluster.local';

/** A network namespace with one address on the bridge. */
export interface Namespace {
  readonly name: string;
  readonly address: string;
  remove(): void;
}

/** A private bridge of this process. Its traffic does not leave the machine. */
export interface Network {
  /** The address of the machine on the bridge. */
  readonly address: string;
  /** Adds a further address of the machine, for one Service. */
  addAddress(): string;
  addNamespace(name: string): Namespace;
  /** Loses every packet between two namespaces until `join`. Neither side learns of it. */
  part(one: Namespace, other: Namespace): void;
  join(one: Namespace, other: Namespace): void;
  close(): void;
}

/** Why this machine cannot have such a network; undefined if it can. */
export function missingForNetwork(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces exist only on Linux';
  if (process.getuid?.() !== 0) return 'only root may make network namespaces';
  const absent = ['ip', 'unshare', 'setpriv'].find((program) => findProgram(program) === undefined);
  if (absent !== undefined) return `there is no program ${absent} (Debian: apt-get install iproute2 util-linux)`;
  const trial = `rg${process.pid}-trial`;
  try {
    ip('netns', 'add', trial);
    ip('netns', 'del', trial);
    return undefined;
  } catch (error) {
    return `no network namespace can be made: ${(error as Error).message}`;
  }
}

export function openNetwork(): Network {
  removeAbandoned();
  const owner = `rg${process.pid}`;
  const subnet = freeSubnet();
  const address = `${subnet}.1`;
  const namespaces = new Map<string, Namespace>();
  let pods = FIRST_POD;
  let links = 0;
  let services = LAST_SERVICE;
  ip('link', 'add', owner, 'address', BRIDGE_HARDWARE_ADDRESS, 'type', 'bridge');
  ip('addr', 'add', `${address}/24`, 'dev', owner);
  ip('link', 'set', owner, 'up');

  /** The addresses of removed pods are used again last, as a cluster does. */
  const nextAddress = (): string => {
    const used = new Set([...namespaces.values()].map((one) => one.address));
    for (let tries = FIRST_POD; tries <= LAST_POD; tries += 1) {
      pods = pods === LAST_POD ? FIRST_POD : pods + 1;
      if (!used.has(`${subnet}.${pods}`)) return `${subnet}.${pods}`;
    }
    throw new Error(`no address is free in ${subnet}.0/24`);
  };
  const addNamespace = (podName: string): Namespace => {
    const name = `${owner}-${podName}`;
    const link = `${owner}v${(links += 1)}`;
    const own = nextAddress();
    giveFiles(name, address);
    ip('netns', 'add', name);
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', link, 'master', owner, 'up');
    inside(name, 'addr', 'add', `${own}/24`, 'dev', 'eth0');
    inside(name, 'link', 'set', 'eth0', 'up');
    inside(name, 'link', 'set', 'lo', 'up');
    const namespace: Namespace = {
      name,
      address: own,
      remove: () => {
        if (!namespaces.delete(name)) return;
        removeNamespace(name);
      },
    };
    namespaces.set(name, namespace);
    return namespace;
  };
  return {
    address,
    addAddress: () => {
      services -= 1;
      ip('addr', 'add', `${subnet}.${services}/24`, 'dev', owner);
      return `${subnet}.${services}`;
    },
    addNamespace,
    part: (one, other) => {
      for (const [from, to] of bothWays(one, other))
        inside(from.name, 'neigh', 'replace', to.address, 'lladdr', LOST_HARDWARE_ADDRESS, 'dev', 'eth0');
    },
    join: (one, other) => {
      for (const [from, to] of bothWays(one, other)) inside(from.name, 'neigh', 'del', to.address, 'dev', 'eth0');
    },
    close: () => {
      for (const namespace of namespaces.values()) namespace.remove();
      ip('link', 'del', owner);
    },
  };
}

const bothWays = <T>(one: T, other: T): readonly (readonly [T, T])[] => [
  [one, other],
  [other, one],
];

/** What `resolv.conf` of a pod holds in a cluster: short names of the own namespace first, five dots before others. */
function giveFiles(namespace: string, nameServer: string): void {
  const folder = path.join(NAMESPACE_FILES, namespace);
  mkdirSync(folder, { recursive: true });
  const resolver = `nameserver ${nameServer}\nsearch ${SEARCHED}\noptions ndots:5 timeout:2 attempts:2\n`;
  writeFileSync(path.join(folder, 'resolv.conf'), resolver);
  writeFileSync(path.join(folder, 'nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n');
  writeFileSync(path.join(folder, 'hosts'), '127.0.0.1 localhost\n');
}

/** The files that a pod of this namespace has in /etc. */
export const filesOf = (namespace: Namespace): string => path.join(NAMESPACE_FILES, namespace.name);

function removeNamespace(name: string): void {
  for (const pid of ip('netns', 'pids', name).split('\n').filter(Boolean)) endProcess(Number(pid));
  ip('netns', 'del', name);
  rmSync(path.join(NAMESPACE_FILES, name), { recursive: true, force: true });
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Removes the namespaces and bridges of runs whose process is dead, and ends what still runs in them. */
function removeAbandoned(): void {
  for (const line of ip('netns', 'list').split('\n')) {
    const [name = ''] = line.split(' ');
    const owner = OWNED.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) removeNamespace(name);
  }
  for (const [, owner = ''] of ip('-o', 'link', 'show', 'type', 'bridge').matchAll(/^\d+: rg(\d+):/gm))
    if (!isAlive(Number(owner))) ip('link', 'del', `rg${owner}`);
}

/** Whether a process has this id. Only root runs a cluster, so no process is hidden. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A subnet that no interface of the machine has. Two runs at the same time begin their search apart. */
function freeSubnet(): string {
  const used = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  for (let tries = 0; tries < SUBNETS; tries += 1) {
    const subnet = `10.231.${(process.pid + tries) % SUBNETS}`;
    if (!used.some((address) => address.startsWith(`${subnet}.`))) return subnet;
  }
  throw new Error('no subnet of 10.231.0.0/16 is free');
}

function inside(namespace: string, ...args: readonly string[]): void {
  ip('-n', namespace, ...args);
}

function ip(...args: readonly string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

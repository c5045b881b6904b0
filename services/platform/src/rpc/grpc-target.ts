import { isIP } from 'node:net';
import { parseHostPort } from '../config/units.ts';
import type { HostPort } from '../config/units.ts';

/** How the configuration names the replicas of a service: host:port, a gRPC target, or a list of addresses. */
export type TargetEntry = string | readonly string[];

const HOST = '(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9_.-]+)';
const TARGET = `${HOST}:\\d{1,5}|dns:(//[^/\\s]*/)?${HOST}:\\d{1,5}|ipv4:[0-9.:,]+|ipv6:[0-9a-fA-F:,\\[\\]]+|unix:\\S+`;
const NAME = /^dns:(?:\/\/([^/]*)\/)?(.+)$/;
const NUMERIC = /^(ipv[46]):(.+)$/;

export const TARGET_EXPECTED =
  'host:port, a gRPC target such as dns:///service.example.:9101, or a list of IP addresses with ports, ' +
  'all IPv4 or all IPv6';

export const targetSchema = {
  type: ['string', 'array'],
  pattern: `^(${TARGET})$`,
  items: { type: 'string', format: 'host-port' },
  minItems: 1,
  description: TARGET_EXPECTED,
} as const;

export interface GrpcTarget {
  readonly target: string;
  /** The hosts that it names; none: a socket of this machine. */
  readonly hosts: readonly string[];
  /** The name server that it names. */
  readonly nameServer?: string | undefined;
}

/** Undefined: the entry is not a target. */
export function parseTarget(entry: TargetEntry): GrpcTarget | undefined {
  if (typeof entry !== 'string') return parseAddresses(entry);
  if (entry.startsWith('unix:')) return { target: entry, hosts: [] };
  const plain = parseHostPort(entry);
  if (plain !== undefined) return { target: entry, hosts: [plain.host] };
  const [, family, addresses = ''] = NUMERIC.exec(entry) ?? [];
  if (family !== undefined) return parseAddresses(addresses.split(','), family);
  const [, nameServer, name = ''] = NAME.exec(entry) ?? [];
  const host = parseHostPort(name)?.host;
  return host === undefined ? undefined : { target: entry, hosts: [host], nameServer: nameServer || undefined };
}

/** A target with several hosts has addresses only, of one family. */
function parseAddresses(addresses: readonly string[], family?: string): GrpcTarget | undefined {
  const parsed = addresses.flatMap((address) => parseHostPort(address) ?? []);
  const [first, ...others] = new Set(parsed.map(({ host }) => `ipv${String(isIP(host))}`));
  if (parsed.length < addresses.length || first === undefined || others.length > 0) return undefined;
  if (first === 'ipv0' || first !== (family ?? first)) return undefined;
  return { target: `${first}:${parsed.map(written).join(',')}`, hosts: parsed.map(({ host }) => host) };
}

function written({ host, port }: HostPort): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

import { isIP } from 'node:net';
import { parseHostPort } from '../../config/units.ts';
import type { HostPort } from '../../config/units.ts';

/** The replicas of a service as the configuration names them: host:port, a gRPC target, or a list of addresses. */
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
  /** The hosts in the target, an empty list for a socket of this machine. */
  readonly hosts: readonly string[];
  /** The hosts with their ports. */
  readonly addresses: readonly HostPort[];
  /** The name server that it names. */
  readonly nameServer?: string | undefined;
}

/** Returns undefined if the entry is not a target. */
export function parseTarget(entry: TargetEntry): GrpcTarget | undefined {
  if (typeof entry !== 'string') return parseAddresses(entry);
  if (entry.startsWith('unix:')) return { target: entry, hosts: [], addresses: [] };
  const plain = parseHostPort(entry);
  if (plain !== undefined) return { target: entry, hosts: [plain.host], addresses: [plain] };
  const [, family, addresses = ''] = NUMERIC.exec(entry) ?? [];
  if (family !== undefined) return parseAddresses(addresses.split(','), family);
  const [, nameServer, name = ''] = NAME.exec(entry) ?? [];
  const named = parseHostPort(name);
  if (named === undefined) return undefined;
  return { target: entry, hosts: [named.host], addresses: [named], nameServer: nameServer || undefined };
}

/** A target with several hosts has addresses only, of one family. */
function parseAddresses(addresses: readonly string[], family?: string): GrpcTarget | undefined {
  const parsed = addresses.flatMap((address) => parseHostPort(address) ?? []);
  const [first, ...others] = new Set(parsed.map(({ host }) => `ipv${isIP(host)}`));
  if (parsed.length < addresses.length || first === undefined || others.length > 0) return undefined;
  if (first === 'ipv0' || first !== (family ?? first)) return undefined;
  const target = `${first}:${parsed.map(writeHostPort).join(',')}`;
  return { target, hosts: parsed.map(({ host }) => host), addresses: parsed };
}

/** Writes an address as `parseHostPort` reads it. */
export function writeHostPort({ host, port }: HostPort): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

import { BlockList, isIP } from 'node:net';

/** Addresses that a walk through proxies passes at most. */
const HOPS_MAX = 32;
const IPV4_BITS = 32;
const IPV6_BITS = 128;
const IPV6_GROUPS = 8;
/** The groups of a /64, which one subscriber has for itself. */
const NETWORK_GROUPS = 4;
const MAPPED = /^(?:0:){5}ffff:([\da-f]+):([\da-f]+)$/;
/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/;
const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;
/** The address of a connection that is closed already. */
const UNKNOWN = 'unknown';

/** The part of a Node request from which its address is read. */
export interface SourceRequest {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The address that a request comes from. */
export type ReadSource = (request: SourceRequest) => string;

/**
 * Reads the address of a request. Each proxy appends the address of its own caller to X-Forwarded-For. The walk goes
 * backwards from the connection as long as an address belongs to a trusted proxy. The first other address is the
 * source. Addresses before it are claims of a client.
 */
export function sourceReader(trustedProxies: readonly string[]): ReadSource {
  const isTrusted = networkCheck(trustedProxies);
  return ({ socket, headers }) => {
    const peer = readPeer(socket.remoteAddress);
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
    return forwarded === '' ? peer : walkProxies(peer, forwarded, isTrusted);
  };
}

/** The address of the other end of a connection. */
export function readPeer(remoteAddress: string | undefined): string {
  return normalizeAddress(remoteAddress ?? '') ?? UNKNOWN;
}

function walkProxies(peer: string, forwarded: string, isTrusted: (address: string) => boolean): string {
  let source = peer;
  let end = forwarded.length;
  for (let hop = 0; hop < HOPS_MAX && end > 0 && isTrusted(source); hop += 1) {
    const comma = forwarded.lastIndexOf(',', end - 1);
    const before = normalizeAddress(forwarded.slice(comma + 1, end).trim());
    // the proxy does not name its caller, so it stands for all its callers
    if (before === undefined) return source;
    source = before;
    end = comma;
  }
  return source;
}

/** Reports whether a text is an address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits] = NETWORK.exec(text) ?? [];
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  return bits === undefined || Number(bits) <= (family === 4 ? IPV4_BITS : IPV6_BITS);
}

/** Creates the check whether an address, as `readPeer` returns it, is in one of the networks. */
export function networkCheck(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [, address = '', bits] = NETWORK.exec(network) ?? [];
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}

/** The network that an address is counted as: one IPv4 address, or a /64 of IPv6. */
export function sourceNetwork(address: string): string {
  if (!address.includes(':')) return address;
  return `${parseIpv6Groups(address).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/**
 * Normalizes the spelling of an address, with IPv4 for an address that is mapped into IPv6. Returns undefined if the
 * text is not an address.
 */
function normalizeAddress(text: string): string | undefined {
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (bracketed ?? dotted ?? text).split('%', 1);
  const family = isIP(address);
  if (family !== 6) return family === 0 ? undefined : address;
  const full = parseIpv6Groups(address).join(':');
  const [, high, low] = MAPPED.exec(full) ?? [];
  if (high === undefined || low === undefined) return full;
  const bits = Number.parseInt(high, 16) * 0x10000 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => String((bits >>> shift) & 0xff)).join('.');
}

/** The eight groups of an IPv6 address, without leading zeros. */
function parseIpv6Groups(address: string): string[] {
  const hex = address.replace(/[\d.]+\.\d+$/, (dotted) => {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
    return [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(':');
  });
  const [head = '', tail] = hex.toLowerCase().split('::');
  const [before, after] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const [left, right] = [before ?? [], after ?? []];
  const missing = tail === undefined ? 0 : IPV6_GROUPS - left.length - right.length;
  return [...left, ...Array<string>(missing).fill('0'), ...right].map((group) => group.replace(/^0+(?=.)/, ''));
}

import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { URL_CHARACTERS_MAX } from '../../domain/remote-url.ts';

/** IANA's special-purpose registries and the internal addresses of clouds. None of these addresses is dialled. */
const SPECIAL: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['100:0:0:1::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
  ['4000::', 2],
  ['8000::', 1],
];
/** Groups of sixteen bits. */
const SITE_GROUPS = 4;
const family = (address: string): 'ipv4' | 'ipv6' => (address.includes(':') ? 'ipv6' : 'ipv4');

/** A second check, in the sockets. It never holds ::ffff:0:0/96: that rule would block all of IPv4. */
export const BLOCKED = new BlockList();
for (const [address, bits] of SPECIAL) BLOCKED.addSubnet(address, bits, family(address));

/** Reports whether a host is an address and not a name. */
export const isAddress = (text: string): boolean => isIP(text) !== 0;

/** Reports whether an address is public: global unicast, without another address embedded in it. */
export function isPublicAddress(text: string): boolean {
  if (!isAddress(text) || text.includes('%')) return false;
  const address = unwrapAddress(text);
  const plain = address.toString();
  // both lists are needed: each lacks a few ranges of the registries
  if (BLOCKED.check(plain, family(plain)) || address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isGlobalUnicast6((address as ipaddr.IPv6).parts);
}

const unwrapAddress = (text: string): ipaddr.IPv4 | ipaddr.IPv6 => ipaddr.process(toCanonicalAddress(text));

/** The address that a connection reaches: IPv4 for an address that is mapped into IPv6. */
export const toPlainAddress = (text: string): string => unwrapAddress(text).toString();

/** The key of a site: one IPv4 address, or a /64 of IPv6. */
export function toAddressKey(text: string): string {
  const address = unwrapAddress(text);
  return address.kind() === 'ipv4'
    ? address.toString()
    : (address as ipaddr.IPv6).parts.slice(0, SITE_GROUPS).join(':');
}

/** IPv6 without dotted parts: the library mistakes `::8.8.8.8` for a mapped address. */
function toCanonicalAddress(text: string): string {
  return text.includes(':') ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
}

/** 2000::/3 without ISATAP interfaces, which embed an IPv4 address. */
function isGlobalUnicast6(parts: readonly number[]): boolean {
  const [first = 0, , , , fifth = 0, sixth = 0] = parts;
  const isIsatap = sixth === 0x5efe && (fifth === 0 || fifth === 0x0200);
  return (first & 0xe000) === 0x2000 && !isIsatap;
}

/** Decides which addresses and ports can be dialled. */
export interface AddressPolicy {
  permits(address: string, port: number): boolean;
  permitsPort(port: number): boolean;
  /** The ports that are allowed for every public address. Those of the exceptions are not among them. */
  readonly ports: readonly number[];
  readonly urlCharactersMax: number;
  /** Reports whether an exception names this port. The address then decides. */
  hasExceptionOn(port: number): boolean;
  /** Reports whether only an exception permits the address. */
  isException(address: string, port: number): boolean;
}

export interface AddressPolicyOptions {
  /** Exact exceptions from the rule that only public addresses are dialled. */
  readonly allow: readonly { readonly host: string; readonly port: number }[];
  readonly ports: readonly number[];
  readonly urlCharactersMax?: number;
}

export function addressPolicy({
  allow,
  ports,
  urlCharactersMax = URL_CHARACTERS_MAX,
}: AddressPolicyOptions): AddressPolicy {
  const exceptions = new Set(allow.filter(({ host }) => isAddress(host)).map(({ host, port }) => endpoint(host, port)));
  const excepted = new Set(allow.map(({ port }) => port));
  const isException = (address: string, port: number): boolean =>
    isAddress(address) && exceptions.has(endpoint(address, port)) && !isPublicAddress(address);
  return {
    isException,
    permits: (address, port) => isPublicAddress(address) || isException(address, port),
    permitsPort: (port) => ports.includes(port) || excepted.has(port),
    ports,
    urlCharactersMax,
    hasExceptionOn: (port) => excepted.has(port),
  };
}

function endpoint(address: string, port: number): string {
  return `${ipaddr.parse(address).toNormalizedString()} ${port}`;
}

/**
 * Every block that must not be dialled, as the registries name it: IANA's special-purpose addresses of both versions,
 * multicast, returned blocks, and the internal addresses of clouds. The list is independent of the product, because the
 * tests judge the product by it.
 */
export const SPECIAL_BLOCKS: readonly (readonly [block: string, what: string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['0.0.0.0/32', 'this host'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared by carriers'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'cloud platform'],
  ['169.254.0.0/16', 'link-local'],
  ['169.254.169.254/32', 'metadata'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.0.0/29', 'service continuity'],
  ['192.0.0.8/32', 'dummy'],
  ['192.0.0.9/32', 'port control anycast'],
  ['192.0.0.10/32', 'TURN anycast'],
  ['192.0.0.170/31', 'NAT64 discovery'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'AS112 delegated'],
  ['198.18.0.0/15', 'benchmarks'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['255.255.255.255/32', 'broadcast'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible'],
  ['::ffff:0:0:0/96', 'IPv4-translated'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'local NAT64'],
  ['100::/64', 'discard'],
  ['100:0:0:1::/64', 'dummy'],
  ['2001::/23', 'protocol assignments'],
  ['2001::/32', 'Teredo'],
  ['2001:1::1/128', 'port control anycast'],
  ['2001:1::2/128', 'TURN anycast'],
  ['2001:1::3/128', 'DNS-SD anycast'],
  ['2001:2::/48', 'benchmarks'],
  ['2001:3::/32', 'AMT'],
  ['2001:4:112::/48', 'AS112'],
  ['2001:10::/28', 'ORCHID'],
  ['2001:20::/28', 'ORCHIDv2'],
  ['2001:30::/28', 'drone ids'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112 delegated'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'unique local'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
  // all that is not global unicast: 2000::/3
  ['::/3', 'outside of global unicast'],
  ['4000::/2', 'outside of global unicast'],
  ['8000::/1', 'outside of global unicast'],
];

const BITS = { 4: 32, 6: 128 } as const;
type Version = keyof typeof BITS;
export interface Block {
  readonly version: Version;
  readonly first: bigint;
  readonly last: bigint;
}

export const BLOCKS: readonly Block[] = SPECIAL_BLOCKS.map(([block]) => parseBlock(block));

export function parseBlock(text: string): Block {
  const [address = '', length = ''] = text.split('/');
  const version = address.includes(':') ? 6 : 4;
  const size = 1n << BigInt(BITS[version] - Number(length));
  const first = version === 6 ? fromGroups(address) : fromDotted(address);
  return { version, first, last: first + size - 1n };
}

/** The groups of an address without a dotted part, with the gap filled. */
function fromGroups(text: string): bigint {
  const [before = '', after] = text.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const groups =
    after === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return groups.reduce((value, group) => (value << 16n) + BigInt(Number.parseInt(group, 16)), 0n);
}

export function fromDotted(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) + BigInt(part), 0n);
}

export function toDotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

/** Eight full groups. */
export function toGroups(value: bigint): string {
  return value.toString(16).padStart(32, '0').match(/.{4}/g)!.join(':');
}

const MAPPED = parseBlock('::ffff:0:0/96');
const ISATAP = new Set([0x0000_5efen, 0x0200_5efen]);

/**
 * The same verdict by arithmetic alone: an address is public when it is in no block and embeds no other address.
 */
export function isPublic(version: Version, value: bigint): boolean {
  if (version === 6 && value >= MAPPED.first && value <= MAPPED.last) return isPublic(4, value & 0xffff_ffffn);
  if (version === 6 && ISATAP.has((value >> 32n) & 0xffff_ffffn)) return false;
  return !BLOCKS.some((block) => block.version === version && block.first <= value && value <= block.last);
}

/**
 * Every way in which an IPv6 address can hold an IPv4 address. Only a mapped one is reached as the address that it
 * holds.
 */
export const CARRIERS: Readonly<Record<string, (inner: bigint) => bigint>> = {
  mapped: (inner) => MAPPED.first + inner,
  compatible: (inner) => inner,
  translated: (inner) => parseBlock('::ffff:0:0:0/96').first + inner,
  nat64: (inner) => parseBlock('64:ff9b::/96').first + inner,
  'local nat64': (inner) => parseBlock('64:ff9b:1::/48').first + inner,
  '6to4': (inner) => parseBlock('2002::/16').first + (inner << 80n) + 1n,
  teredo: (inner) => parseBlock('2001::/32').first + (fromDotted('8.8.8.8') << 64n) + (inner ^ 0xffff_ffffn),
  isatap: (inner) => parseBlock('2600:1f18::/32').first + (0x0000_5efen << 32n) + inner,
  'public isatap': (inner) => parseBlock('2600:1f18::/32').first + (0x0200_5efen << 32n) + inner,
};

/** Each spelling means the same address. */
export function spellings6(value: bigint): readonly string[] {
  const groups = toGroups(value).split(':');
  const short = groups.map((group) => group.replace(/^0{1,3}/, ''));
  const dotted = `${short.slice(0, 6).join(':')}:${toDotted(value & 0xffff_ffffn)}`;
  const compressed = new URL(`http://[${toGroups(value)}]/`).hostname.slice(1, -1);
  const zeros = groups.findIndex((group, at) => group === '0000' && groups[at + 1] === '0000');
  const gap = zeros < 0 ? short.join(':') : `${short.slice(0, zeros).join(':')}::${short.slice(zeros + 2).join(':')}`;
  return [
    ...new Set([
      groups.join(':'),
      groups.join(':').toUpperCase(),
      short.join(':'),
      dotted,
      dotted.toUpperCase(),
      compressed,
      compressed.toUpperCase(),
      gap,
    ]),
  ];
}

/** Spellings of addresses in a URL. A URL parser folds all of them into the dotted form. */
export function spellings4(value: bigint): readonly string[] {
  const parts = [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n);
  const [a = 0n, b = 0n, c = 0n, d = 0n] = parts;
  const hex = (part: bigint): string => `0x${part.toString(16)}`;
  const octal = (part: bigint): string => `0${part.toString(8)}`;
  const dotted = parts.join('.');
  return [
    dotted,
    `${dotted}.`,
    String(value),
    hex(value),
    hex(value).toUpperCase(),
    octal(value),
    parts.map(hex).join('.'),
    parts.map((part) => `0x000${part.toString(16)}`).join('.'),
    parts.map(octal).join('.'),
    `00${octal(a)}.${hex(b)}.${c}.${octal(d)}`,
    `${a}.${(b << 16n) + (c << 8n) + d}`,
    `${hex(a)}.${octal((b << 16n) + (c << 8n) + d)}`,
    `${a}.${b}.${(c << 8n) + d}`,
    wide(dotted),
    wide(String(value)),
    dotted.replaceAll('.', '。'),
    dotted.replaceAll('.', '．'),
    dotted.replaceAll('.', '｡'),
    circled(dotted),
    percented(dotted),
    percented(hex(value)),
    dotted.replaceAll('.', '%2e'),
    dotted.replace('.', '\u00ad.'),
    `%30x${value.toString(16)}`,
    `${a}.\u200b${b}.${c}.${d}`,
    mathematical(dotted),
  ];
}

const moved = (text: string, from: string, to: number): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(to + Number(digit) - Number(from)));
const wide = (text: string): string => moved(text, '0', 0xff10);
const mathematical = (text: string): string => moved(text, '0', 0x1d7ce);
const circled = (text: string): string =>
  text.replace(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + Number(digit) - 1)).replaceAll('0', '⓪');
const percented = (text: string): string =>
  [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');

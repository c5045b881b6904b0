import { isIP } from 'node:net';
import { checkRemoteUrl, parseRemoteUrl } from '../../domain/remote-url.ts';
import { isPublicAddress, toPlainAddress } from './address-policy.ts';
import type { AddressPolicy } from './address-policy.ts';
import { FetchFault, addressFault } from '../../domain/fetch-fault.ts';

/** Names that are used only inside a network. */
const PRIVATE_NAMES = [
  'localhost',
  'local',
  'internal',
  'home.arpa',
  'lan',
  'onion',
  'i2p',
  'arpa',
  'invalid',
  'cluster.local',
];
const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** Refuses an address before a name is resolved or an address is dialled. The socket checks again. */
export function checkTarget(url: URL, policy: AddressPolicy): void {
  const checked = checkRemoteUrl(url, policy.urlCharactersMax);
  if ('fault' in checked) throw new FetchFault('url', checked.fault);
  if (!policy.permitsPort(readPort(url))) throw new FetchFault('url', wrongPort(policy));
  const host = readHost(url);
  if (isIP(host) !== 0) {
    if (!policy.permits(host, readPort(url))) throw addressFault(`the address ${host} is not dialled`);
  } else if (!isPublicName(host)) throw addressFault(`the name ${host} is not resolved`);
}

/** The message names only the ports of the web, so that a client does not learn the operator's other ports. */
function wrongPort({ ports }: AddressPolicy): string {
  const known = [HTTP_PORT, HTTPS_PORT].filter((port) => ports.includes(port));
  return `must have an address on ${known.length === 0 ? 'another port' : `port ${known.join(' or ')}`}`;
}

/** Reports whether the host of an address can be public. It resolves no name. */
export function isPublicHost(url: URL): boolean {
  const host = readHost(url);
  return isIP(host) !== 0 ? isPublicAddress(host) : isPublicName(host);
}

/** Returns the canonical address in a URL's host, or undefined if the host is a name. */
export function addressIn(url: URL): string | undefined {
  const host = readHost(url);
  return isIP(host) === 0 ? undefined : toPlainAddress(host);
}

/** The key of a host: the same for every spelling and every port. */
export function toHostKey(url: URL): string {
  return addressIn(url) ?? readHost(url).replace(/\.$/, '');
}

const readHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

export function parseTarget(text: string, { urlCharactersMax }: AddressPolicy): URL {
  const parsed = parseRemoteUrl(text, urlCharactersMax);
  if ('fault' in parsed) throw new FetchFault('url', parsed.fault);
  return parsed.url;
}

export function readPort(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? HTTPS_PORT : HTTP_PORT;
}

function isPublicName(host: string): boolean {
  if (host.includes('..')) return false;
  const name = host.replace(/\.$/, '').toLowerCase();
  return name.includes('.') && !name.startsWith('.') && !PRIVATE_NAMES.some((suffix) => name.endsWith(`.${suffix}`));
}

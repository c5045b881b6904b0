import type { HostPort } from '@reelgate/platform/config/units';
import { addressPolicy, isAddress, isPublicAddress, toPlainAddress } from '../addresses/address-policy.ts';
import type { AddressPolicy } from '../addresses/address-policy.ts';
import { addressIn, checkTarget, toHostKey, parseTarget, readPort } from '../addresses/fetch-target.ts';
import { FetchFault, addressFault } from '../../domain/fetch-fault.ts';

const HTTPS_PORT = 443;
/** As in the contract. */
const URL_CHARACTERS_MAX = 2048;

/** A receiver that may be called, and the rule for the addresses that its name leads to. */
export interface Receiver {
  readonly url: URL;
  readonly policy: AddressPolicy;
  /** True if the operator names the receiver: the bounds that protect the hosts of others do not hold for it. */
  readonly isException: boolean;
}

export interface ReceiverPolicyOptions {
  /** The exceptions of the operator: names and addresses, each on one port. */
  readonly allow: readonly HostPort[];
  /** Reports whether an address leads to this service. */
  readonly isOwn: (url: URL) => boolean;
}

/** Judges a receiver by its URL alone. Throws a FetchFault for a receiver that must not be called. */
export type JudgeReceiver = (url: string) => Receiver;

/**
 * A receiver is public, and called over https on port 443. An exception can be called over http too. An exception that
 * is an address allows exactly that address. An exception that is a name allows every address of that name, on its port
 * and only in URLs that have this name.
 */
export function receiverPolicy({ allow, isOwn }: ReceiverPolicyOptions): JudgeReceiver {
  const base = addressPolicy({
    allow: allow.filter(({ host }) => isAddress(host)),
    ports: [HTTPS_PORT],
    urlCharactersMax: URL_CHARACTERS_MAX,
  });
  const exceptions = new Set(
    allow.map(({ host, port }) => toReceiverKey(isAddress(host) ? toPlainAddress(host) : host, port)),
  );
  return (text) => {
    const url = parseTarget(text, base);
    const isException = exceptions.has(toReceiverKey(toHostKey(url), readPort(url)));
    if (isException && addressIn(url) === undefined)
      return { url, policy: anyAddressOn(readPort(url), base), isException };
    checkTarget(url, base);
    if (!isException && url.protocol !== 'https:') throw new FetchFault('url', 'must have an https address');
    if (!isException && isOwn(url)) throw addressFault(`${url.hostname} leads to this service`);
    return { url, policy: base, isException };
  };
}

function anyAddressOn(allowed: number, base: AddressPolicy): AddressPolicy {
  return {
    ...base,
    permits: (address, port) => port === allowed && isAddress(address),
    permitsPort: (port) => port === allowed,
    hasExceptionOn: (port) => port === allowed,
    isException: (address, port) => port === allowed && isAddress(address) && !isPublicAddress(address),
  };
}

/** Returns the same key for every spelling of a name. */
const toReceiverKey = (host: string, port: number): string => `${host.toLowerCase().replace(/\.$/, '')} ${port}`;

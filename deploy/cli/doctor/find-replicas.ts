import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { HostPort } from '@reelgate/platform/config/units';

/** Gives every address of a name. Rejects if the name has none. */
export type LookUp = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export const lookUpAll: LookUp = (host) => lookup(host, { all: true });

/**
 * Finds the addresses of the replicas behind the hosts of a service. None: the service has one address, so that it is
 * called as it is named. Addresses of another family are those of the same replicas.
 */
export async function findReplicas(hosts: readonly HostPort[], lookUp: LookUp): Promise<readonly HostPort[]> {
  const [named] = hosts;
  if (named === undefined || hosts.length > 1) return hosts;
  if (isIP(named.host) !== 0) return [];
  const addresses = await lookUp(named.host);
  const ofOneFamily = addresses.filter(({ family }) => family === addresses[0]?.family);
  return ofOneFamily.length > 1 ? ofOneFamily.map(({ address }) => ({ host: address, port: named.port })) : [];
}

import type { FetchConfig, FetchException } from '../../config.ts';
import { addressPolicy } from './address-policy.ts';
import type { AddressPolicy } from './address-policy.ts';

/** The rule for one kind of fetch: an exception for another kind does not count, neither its address nor its port. */
export function policyFor(
  { allow, ports, urlCharactersMax }: FetchConfig,
  kind: NonNullable<FetchException['purpose']>,
): AddressPolicy {
  return addressPolicy({
    allow: allow.filter(({ purpose = kind }) => purpose === kind),
    ports,
    urlCharactersMax,
  });
}

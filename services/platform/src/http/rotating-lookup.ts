import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Resolve = (
  name: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Resolves a name for each connection, and begins with another of its addresses each time. Node tries the addresses in
 * this order until one accepts. The system orders them by its own rules, which can prefer the same replica each time.
 */
export function rotatingLookup(resolve: Resolve = systemLookup): LookupFunction {
  let lookups = 0;
  return (name, { all = false }, done) =>
    resolve(name, { all: true }, (error, addresses) => {
      if (error !== null) {
        done(error, []);
        return;
      }
      const start = lookups % addresses.length;
      lookups += 1;
      if (all) done(null, [...addresses.slice(start), ...addresses.slice(0, start)]);
      else done(null, addresses[start]?.address ?? '', addresses[start]?.family);
    });
}

import { Resolver } from 'node:dns/promises';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { AddressPolicy } from './address-policy.ts';
import { addressFault, networkFault } from '../../domain/fetch-fault.ts';

const TRIES = 2;
const ANSWERS_MAX = 32;
/** A name can have addresses of one kind only. */
const NO_SUCH_KIND = new Set(['ENODATA', 'ENOTFOUND']);

export interface LookupPolicy {
  readonly policy: AddressPolicy;
  readonly dnsServers: readonly string[];
}

export interface LookupLimits {
  readonly dnsMs: number;
  /** Ends the queries that still run. */
  readonly signal: AbortSignal;
  /** Called before an address is dialled that only an exception permits. */
  readonly recordException?: (() => void) | undefined;
}

export type LookupSettings = LookupPolicy & LookupLimits;

/** Looks up all addresses of a name. Refuses the name if a single address is not permitted. */
async function lookUp(
  { policy, dnsServers, dnsMs, signal, recordException }: LookupSettings,
  name: string,
  port: number,
): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: Math.ceil(dnsMs / TRIES), tries: TRIES });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  signal.removeEventListener('abort', cancel);
  const found = [...toLookupAddresses(four, 4), ...toLookupAddresses(six, 6)];
  if (found.length === 0) throw networkFault(findLookupError(four) ?? findLookupError(six) ?? { code: 'ENOTFOUND' });
  const refused = found.find(({ address }) => !policy.permits(address, port));
  if (refused !== undefined) throw addressFault(`${name} has the address ${refused.address}, which is not dialled`);
  if (found.some(({ address }) => policy.isException(address, port))) recordException?.();
  return found.slice(0, ANSWERS_MAX);
}

function toLookupAddresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

function findLookupError(answer: PromiseSettledResult<string[]>): unknown {
  if (answer.status === 'fulfilled') return undefined;
  const { code } = answer.reason as { readonly code?: string };
  return code !== undefined && NO_SUCH_KIND.has(code) ? undefined : answer.reason;
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** The lookup that a socket calls. `admit` waits until some of the addresses found can be dialled. */
export function policyLookup(
  settings: LookupSettings,
  port: number,
  admit: (found: readonly LookupAddress[]) => Promise<readonly LookupAddress[]>,
) {
  return (name: string, options: LookupOptions, callback: LookupCallback): void => {
    lookUp(settings, name, port)
      .then(admit)
      .then(
        (found) => {
          const [first] = found;
          if (options.all === true || first === undefined) callback(null, [...found]);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error as Error, []),
      );
  };
}

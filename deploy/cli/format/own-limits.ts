import { WrongCall } from '../command.ts';

/** The options of the limits that a token has of its own. */
export const OWN_LIMIT_OPTIONS = {
  'creates-per-minute': { value: 'N', means: "the token's own rate limit of creates" },
  'reads-per-minute': { value: 'N', means: "the token's own rate limit of reads" },
  'calls-per-minute': { value: 'N', means: "the token's own rate limit of synchronous calls" },
  'in-flight': { value: 'N', means: 'the most unfinished tasks of the token' },
} as const;

type OwnLimitOptions = { readonly [N in keyof typeof OWN_LIMIT_OPTIONS]?: string };

interface OwnLimits {
  readonly createsPerMinute: number;
  readonly readsPerMinute: number;
  readonly callsPerMinute: number;
  readonly inFlight: number;
}

/** Zero means the configured limit. */
export function ownLimits(options: OwnLimitOptions): OwnLimits {
  return {
    createsPerMinute: ownLimit('creates-per-minute', options),
    readsPerMinute: ownLimit('reads-per-minute', options),
    callsPerMinute: ownLimit('calls-per-minute', options),
    inFlight: ownLimit('in-flight', options),
  };
}

function ownLimit(name: keyof OwnLimitOptions, { [name]: text }: OwnLimitOptions): number {
  if (text === undefined) return 0;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new WrongCall(`--${name} takes a whole number such as 600, not ${text}`);
  return Number(text);
}

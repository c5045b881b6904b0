import type { HostPort } from '@reelgate/platform/config/units';

/** An exception holds for the media of clients or for the results of upstreams. */
export const FETCH_PURPOSES = ['inputs', 'results'] as const;
export type FetchPurpose = (typeof FETCH_PURPOSES)[number];

export interface FetchException extends HostPort {
  /** Undefined if the exception holds for the media of clients and for results. */
  readonly purpose: FetchPurpose | undefined;
}

export interface FetchConfig {
  /** Private addresses that can be dialled, each on one port. */
  readonly allow: readonly FetchException[];
  /** Ports that can be dialled in addition to the ports in `allow`. */
  readonly ports: readonly number[];
  readonly redirectsMax: number;
  /** Empty for the servers of the system. */
  readonly dnsServers: readonly string[];
  readonly inFlight: { readonly total: number; readonly perAccount: number; readonly perHost: number };
  /** A transfer keeps its permits for at least this long. After that it may have to yield to another account. */
  readonly yieldAfterMs: number;
  /** The least speed of a body over every window of `speedWindowMs`. */
  readonly leastBytesPerSecond: number;
  readonly speedWindowMs: number;
  readonly headerBytesMax: number;
  readonly urlCharactersMax: number;
  readonly timeouts: {
    readonly dnsMs: number;
    readonly connectMs: number;
    readonly headersMs: number;
    readonly idleMs: number;
    /** For images and audio, and for video. */
    readonly imageTotalMs: number;
    readonly videoTotalMs: number;
    /** For a free permit. */
    readonly queueMs: number;
  };
}

import type { Pool } from 'undici';

/** Connections to the upstream of a channel. */
export type RelayPool = Pick<Pool, 'dispatch' | 'request'> & { close(): Promise<void>; destroy(): Promise<void> };

/** The time-outs of a channel. */
export interface PoolTimeouts {
  /** From the request's last byte to the head of the answer. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of an answer. */
  readonly idleTimeoutMs: number;
}

/** Opens connections to an origin, with the time-outs of a channel. */
export type OpenRelayPool = (origin: string, timeouts: PoolTimeouts) => RelayPool;

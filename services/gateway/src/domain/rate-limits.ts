/** The requests that a token may send per minute, if it has no limits of its own. */
export interface RateLimits {
  readonly createsPerMinute: number;
  readonly readsPerMinute: number;
  /** For the synchronous routes. */
  readonly callsPerMinute: number;
}

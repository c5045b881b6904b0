/** The maximum number of concurrent requests, in total and for one account. */
export const SENDS_MAX = 512;
export const ACCOUNT_SENDS_MAX = 128;
/** The maximum number at one host. Many accounts can have receivers at one host, so an account gets half of them. */
export const HOST_SENDS_MAX = 128;
export const ACCOUNT_HOST_SENDS_MAX = 64;

/** Permits for requests to receivers. A request that is refused a permit does not wait: its caller repeats it. */
export interface SendPermits {
  /**
   * Returns the function that releases the permits, or undefined if a bound is reached. Without a host, the bounds of
   * hosts do not apply.
   */
  take(accountId: string, host: string | undefined): (() => void) | undefined;
}

export function newSendPermits(): SendPermits {
  const held = new Map<string, number>();
  const count = (key: string, change: number): void => {
    const next = (held.get(key) ?? 0) + change;
    if (next === 0) held.delete(key);
    else held.set(key, next);
  };
  return {
    take: (accountId, host) => {
      const bounds: readonly (readonly [string, number])[] = [
        ['all', SENDS_MAX],
        [`account ${accountId}`, ACCOUNT_SENDS_MAX],
        ...(host === undefined
          ? []
          : ([
              [`host ${host}`, HOST_SENDS_MAX],
              [`at ${host} ${accountId}`, ACCOUNT_HOST_SENDS_MAX],
            ] as const)),
      ];
      if (bounds.some(([key, max]) => (held.get(key) ?? 0) >= max)) return undefined;
      for (const [key] of bounds) count(key, 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        for (const [key] of bounds) count(key, -1);
      };
    },
  };
}

/** The time by which the clock of the service is ahead of the browser's. */
let aheadMs = 0;

/** Takes over the clock of an answer. */
export function setServerClock(now: number): void {
  aheadMs = now - Date.now();
}

/** The time of the service, in milliseconds since 1970. The browser's clock may be wrong. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

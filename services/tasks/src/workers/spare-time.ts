/** From this share of its time on, a process is busy. */
const BUSY = 0.7;
/** A shorter time is too short to judge. */
const LOOK_MS = 100;
/** Work that can wait begins after this time, however busy the process is. */
const DEFERRED_MAX_MS = 3000;

/** Lets work wait while the process is busy with work that cannot. */
export interface SpareTime {
  /** Reports whether such work may begin now. Callers ask again until it may. */
  mayBegin(): boolean;
}

/** `utilization` gives the share of the time since its last call in which the process was busy, from 0 to 1. */
export function spareTime(clock: { now(): number }, utilization: () => number): SpareTime {
  let lookedAt = clock.now();
  let isBusy = false;
  let deferredAt: number | undefined;
  return {
    mayBegin: () => {
      const now = clock.now();
      // also if the clock was set back
      if (Math.abs(now - lookedAt) >= LOOK_MS) {
        lookedAt = now;
        isBusy = utilization() >= BUSY;
      }
      deferredAt ??= now;
      if (isBusy && Math.abs(now - deferredAt) < DEFERRED_MAX_MS) return false;
      deferredAt = undefined;
      return true;
    },
  };
}

/** The share of its time in which the event loop of this process was not idle. */
export function loopUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

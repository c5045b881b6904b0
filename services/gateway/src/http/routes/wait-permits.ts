import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Semaphore } from '@reelgate/platform/limits/semaphore';

const PERMITS = 10_000;

export type WaitPermits = Semaphore;

/** Bounds the reads that wait for a change. A read without a permit is answered at once. */
export function openWaitPermits(): WaitPermits {
  return newSemaphore({ permits: PERMITS, waitingMax: 0 });
}

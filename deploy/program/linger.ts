import type { Foundation, RunningService } from '@reelgate/platform/foundation';

/** Shorter than the grace period of Kubernetes. */
const LINGER_MS_MAX = 25_000;
const POLL_MS = 100;

/** Delays the stop of a service while other services, which stop at the same time, need it to finish their work. */
export async function linger(
  { isNeeded }: Pick<RunningService, 'isNeeded'>,
  { clock, log }: Pick<Foundation, 'clock' | 'log'>,
): Promise<void> {
  const until = clock.now() + LINGER_MS_MAX;
  while (isNeeded !== undefined && clock.now() < until) {
    // A service that cannot answer is of no use to the others, so it stops.
    if (!(await isNeeded().catch(() => false))) return;
    await clock.sleep(POLL_MS);
  }
  if (isNeeded !== undefined)
    log.warn({ ms: LINGER_MS_MAX }, 'the service stops although other services still need it');
}

import type { Foundation, RunningService } from '@reelgate/platform/foundation';

/** More than a gateway lets its calls run on at a stop, and less than Kubernetes waits before it kills. */
const LINGER_MS_MAX = 25_000;
const LOOK_EVERY_MS = 100;

/** Before a service stops: waits while others that stop at the same moment have work under way that they can only finish with it. */
export async function linger(
  { isNeeded }: Pick<RunningService, 'isNeeded'>,
  { clock, log }: Pick<Foundation, 'clock' | 'log'>,
): Promise<void> {
  const until = clock.now() + LINGER_MS_MAX;
  while (isNeeded !== undefined && clock.now() < until) {
    // one that cannot even say so is of no use to them
    if (!(await isNeeded().catch(() => false))) return;
    await clock.sleep(LOOK_EVERY_MS);
  }
  if (isNeeded !== undefined)
    log.warn({ ms: LINGER_MS_MAX }, 'the service stops although others have work under way that needs it');
}

import type { Clock } from '@reelgate/platform/clock';
import { formatNanos } from '../format/amount.ts';
import type { Services } from '../connect-services.ts';

const SETTLED_MS_MAX = 5000;
const AGAIN_MS = 200;

/** The charge of a finished task. The settlement follows the end of the task; undefined if it does not come in time. */
export async function waitForCharge(
  taskId: string,
  { billing }: Pick<Services, 'billing'>,
  clock: Clock,
): Promise<string | undefined> {
  const until = clock.now() + SETTLED_MS_MAX;
  while (clock.now() < until) {
    try {
      const { hold, settlement } = await billing.getHold({ taskId });
      if (settlement !== undefined) return `${formatNanos(settlement.amountNanos)} ${hold?.currency ?? ''}`.trim();
    } catch {
      // The video is saved already, so the command does not fail if the charge cannot be read.
      return undefined;
    }
    await clock.sleep(AGAIN_MS);
  }
  return undefined;
}

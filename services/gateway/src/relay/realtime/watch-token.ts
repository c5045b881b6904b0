import type { Clock } from '@reelgate/platform/clock';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem, ProblemKind } from '@reelgate/platform/problem';

/** Asking is a look into what is remembered of the token for a few seconds anyway. */
const CHECK_EVERY_MS = 2000;
/** What says that the right has gone; anything else, that nobody could say. */
const REFUSALS: ReadonlySet<ProblemKind> = new Set<ProblemKind>(['unauthenticated', 'forbidden', 'not_found']);

export interface TokenWatchOptions {
  readonly clock: Clock;
  /** Ends the watch. */
  readonly over: AbortSignal;
  readonly onRefused: (problem: Problem) => void;
}

/** Asks again and again whether a session may go on, until it may not. */
export async function watchToken(
  mayGoOn: () => Promise<void>,
  { clock, over, onRefused }: TokenWatchOptions,
): Promise<void> {
  for (;;) {
    await clock.sleep(CHECK_EVERY_MS, over);
    if (over.aborted) return;
    try {
      await mayGoOn();
    } catch (error) {
      if (!isProblem(error) || !REFUSALS.has(error.kind)) continue;
      onRefused(error);
      return;
    }
  }
}

import type { Clock } from '@reelgate/platform/clock';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem, ProblemKind } from '@reelgate/platform/problem';

/** A check reads the cache of tokens, which is a few seconds old at most. */
const CHECK_EVERY_MS = 2000;
/** Refusals that end a session. Any other error does not tell whether the token is valid. */
const REFUSALS: ReadonlySet<ProblemKind> = new Set<ProblemKind>(['unauthenticated', 'forbidden', 'not_found']);

export interface TokenWatchOptions {
  readonly clock: Clock;
  /** Default: two seconds. */
  readonly everyMs?: number;
  /** True if the session also ends when billing cannot be reached; false by default. */
  readonly endsUnknown?: boolean;
  /** Ends the watch. */
  readonly over: AbortSignal;
  readonly onRefused: (problem: Problem) => void;
}

/** Checks at intervals whether the token still permits the session; `assertPermitted` rejects if it does not. */
export async function watchToken(
  assertPermitted: () => Promise<void>,
  { clock, everyMs = CHECK_EVERY_MS, endsUnknown = false, over, onRefused }: TokenWatchOptions,
): Promise<void> {
  for (;;) {
    await clock.sleep(everyMs, over);
    if (over.aborted) return;
    try {
      await assertPermitted();
    } catch (error) {
      const ends = isProblem(error) && (REFUSALS.has(error.kind) || (endsUnknown && error.kind === 'unavailable'));
      if (!ends) continue;
      onRefused(error);
      return;
    }
  }
}

import type { Clock } from '@reelgate/platform/clock';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem, ProblemKind } from '@reelgate/platform/problem';

/** With a token read no longer ago than `SESSION_FRESH_MS`, streams of a revoked token end within two seconds. */
const CHECK_EVERY_MS = 900;
/** Refusals of a token. Any other error does not tell whether the token is valid. */
const REFUSALS: ReadonlySet<ProblemKind> = new Set<ProblemKind>(['unauthenticated', 'forbidden', 'not_found']);

export interface TokenWatchOptions {
  readonly clock: Clock;
  /** Default: 900 milliseconds. */
  readonly everyMs?: number;
  /** True if the session also ends when billing cannot be reached; false by default. */
  readonly endsUnknown?: boolean;
  /** Ends the watch. */
  readonly over: AbortSignal;
  readonly onRefused: (problem: Problem) => void;
}

/** Checks at intervals whether the token still permits the session; `assertPermitted` rejects if it does not. */
export async function watchToken(
  assertPermitted: () => Promise<unknown>,
  { clock, everyMs = CHECK_EVERY_MS, endsUnknown = false, over, onRefused }: TokenWatchOptions,
): Promise<void> {
  for (;;) {
    await clock.sleep(everyMs, over);
    if (over.aborted) return;
    try {
      await assertPermitted();
    } catch (error) {
      if (!isTokenRefusal(error) && !(endsUnknown && isProblem(error) && error.kind === 'unavailable')) continue;
      onRefused(error);
      return;
    }
  }
}

/** Reports whether the token was refused, as opposed to not checked. */
export function isTokenRefusal(error: unknown): error is Problem {
  return isProblem(error) && REFUSALS.has(error.kind);
}

import type { Clock } from '@reelgate/platform/clock';
import type { SessionEnd, SessionStore } from '../../store/sessions/session-store.ts';

/** Up to 32 persons with one token can sign out within the time of a session while the others stay signed in. */
const OF_SUBJECT_MAX = 32;
const ROWS_MAX = 20_000;
/** The clocks of gateways and of billing differ by less. */
const CLOCKS_APART_MS = 60 * 60 * 1000;

export interface SessionDeps {
  readonly sessions: SessionStore;
  readonly clock: Clock;
}

/**
 * Ends a session, or all that its subject has begun, for good. The list is bounded: too many of one subject become one
 * row that ends all of the subject, and too many rows become a version before which every session has ended.
 */
export async function endSessions({ sessions, clock }: SessionDeps, ending: SessionEnd): Promise<number> {
  const bounds = { ofSubjectMax: OF_SUBJECT_MAX, rowsMax: ROWS_MAX, expiredBefore: clock.now() - CLOCKS_APART_MS };
  return sessions.end(ending, bounds);
}

/** Forgets ended sessions that have expired everywhere. */
export async function removeExpiredSessions({ sessions, clock }: SessionDeps): Promise<void> {
  await sessions.removeExpired(clock.now() - CLOCKS_APART_MS);
}

import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Problem } from '@reelgate/platform/problem';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { SessionRecords } from '../../clients/sessions-client.ts';
import { openEndedList } from './ended-list.ts';
import type { EndedListCopy, SessionMark } from './ended-list.ts';
import { refuse } from '../../refusals.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { SessionCookie } from './session-cookie.ts';

/** A list of this age is asked for again. */
const FRESH_MS = 1000;
/** An older list says nothing: a session may have ended at another gateway. */
const USABLE_MS = 2000;
const RETRY_MS = 1000;

/** A session that a person can end. */
export interface EndableSession extends SessionMark {
  readonly expiresAt: number;
}

/** The sessions of the consoles that have ended, at any gateway. */
export interface EndedSessions {
  /** Refuses a session that has ended, and every session while it is not known which have. */
  assertLive(session: SessionMark): MaybePromise<void>;
  /** The version that a session begins with now. */
  versionNow(): Promise<number>;
  /** Resolves when the end is durable. */
  end(session: EndableSession): Promise<void>;
  /** The same for all sessions that a subject has begun until now. */
  endAll(subject: string): Promise<void>;
  /** The same without a wait: it is tried until it is done or the gateway stops. */
  endAllSoon(subject: string): void;
}

export interface EndedSessionsOptions {
  readonly records: SessionRecords;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the gateway stops. */
  readonly stopping: AbortSignal;
}

/** Follows the list of ended sessions while pages ask. Without pages it costs nothing. */
export function followEndedSessions(options: EndedSessionsOptions): EndedSessions {
  const { records, clock } = options;
  const list = openEndedList(records, clock);
  const { known } = list;
  const endAll = async (subject: string): Promise<void> => {
    known.add({ subject, session: undefined, version: await records.end({ subject, session: undefined }) });
  };
  return {
    assertLive: (session) => {
      if (known.hasEnded(session)) throw noSession();
      return list.isYounger(FRESH_MS) && session.version <= known.version() ? undefined : assertLiveIn(list, session);
    },
    versionNow: async () => {
      try {
        await list.renew();
      } catch (error) {
        throw serviceUnavailable(error, RETRY_MS);
      }
      return known.version();
    },
    end: async (session) => {
      if (known.hasEnded(session)) return;
      const { subject, digest, expiresAt } = session;
      const ending = { subject, session: { digest, expiresAt } };
      known.add({ ...ending, version: await records.end(ending) });
    },
    endAll,
    endAllSoon: (subject) => {
      void endUntilDone(options, subject, endAll);
    },
  };
}

/** With a new list, or with one that is usable. */
async function assertLiveIn(list: EndedListCopy, session: SessionMark): Promise<void> {
  const { known } = list;
  try {
    await list.refresh();
    // the session began at another gateway a moment ago, or the answer was slow: one that is asked for from here on is
    // as new as the request, however long it takes
    if (session.version > known.version() || !list.isYounger(USABLE_MS)) await list.renew();
  } catch (error) {
    if (!list.isYounger(USABLE_MS) || session.version > known.version()) throw serviceUnavailable(error, RETRY_MS);
  }
  if (known.hasEnded(session) || session.version > known.version()) throw noSession();
}

async function endUntilDone(
  { clock, log, stopping }: EndedSessionsOptions,
  subject: string,
  endAll: (subject: string) => Promise<void>,
): Promise<void> {
  for (let tries = 1; !stopping.aborted; tries += 1) {
    try {
      await endAll(subject);
      return;
    } catch (error) {
      if (tries === 1) log.warn({ err: error, subject }, 'sessions could not be ended yet; this is tried again');
      await clock.sleep(RETRY_MS, stopping);
    }
  }
}

export function noSession(): Problem {
  return refuse('signed_out');
}

interface OwnSession {
  readonly ended: EndedSessions;
  readonly cookie: SessionCookie;
  readonly exchange: Exchange;
}

/** Ends the session of a request everywhere. If that cannot be done, the browser forgets it, and the answer says so. */
export async function endOwnSession(
  { ended, cookie, exchange }: OwnSession,
  session: EndableSession | undefined,
): Promise<void> {
  cookie.clear(exchange);
  if (session === undefined) return;
  try {
    await ended.end(session);
  } catch (error) {
    throw refuse('sign_out_incomplete', {
      message:
        'this browser has forgotten the session, but the service could not end it: a copy of its cookie may work until ' +
        `${new Date(session.expiresAt).toISOString()}; sign in again later and sign out everywhere`,
      cause: error,
    });
  }
}

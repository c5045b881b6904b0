import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { SessionRecords, EndedList, EndedSession } from '../../clients/sessions-client.ts';

/** The clocks of gateways differ by less. */
const CLOCKS_APART_MS = 60 * 60 * 1000;

/** The identity of a session, and when it began. */
export interface SessionMark {
  /** `token:` and an id, or `operator:` and a name. */
  readonly subject: string;
  readonly digest: string;
  /** The version of the list of ended sessions at its begin. Versions order begins and endings; clocks would not. */
  readonly version: number;
}

/** The ended sessions that this process has heard of. It has at most the rows that billing has. */
export interface KnownEndings {
  /** The version of the newest list. */
  version(): number;
  hasEnded(session: SessionMark): boolean;
  /** Adds a list of what has ended since the version of the one before. */
  take(list: EndedList, now: number): void;
  /** Adds one that this process has ended. The version stays, because others may have ended before it. */
  add(ended: EndedSession): void;
}

interface SubjectEndings {
  allBefore: number;
  /** By digest, the time at which each would have expired. */
  readonly sessions: Map<string, number>;
}

function newKnownEndings(): KnownEndings {
  const subjects = new Map<string, SubjectEndings>();
  let [version, allBefore] = [0, 0];
  const add = ({ subject, session, version: endedBy }: EndedSession): void => {
    const known = subjects.get(subject) ?? { allBefore: 0, sessions: new Map<string, number>() };
    subjects.set(subject, known);
    if (session !== undefined) {
      known.sessions.set(session.digest, session.expiresAt);
      return;
    }
    known.allBefore = Math.max(known.allBefore, endedBy);
    // they began before
    known.sessions.clear();
  };
  const removeExpired = (now: number): void => {
    for (const [subject, { allBefore: before, sessions }] of subjects) {
      for (const [digest, expiresAt] of sessions) if (expiresAt + CLOCKS_APART_MS < now) sessions.delete(digest);
      if (before === 0 && sessions.size === 0) subjects.delete(subject);
    }
  };
  return {
    version: () => version,
    hasEnded: (session) => {
      const known = subjects.get(session.subject);
      if (session.version < allBefore) return true;
      return known !== undefined && (session.version < known.allBefore || known.sessions.has(session.digest));
    },
    take: (list, now) => {
      if (list.allBefore > allBefore) {
        allBefore = list.allBefore;
        subjects.clear();
      }
      version = list.version;
      if (list.ended.length === 0) return;
      for (const ended of list.ended) add(ended);
      removeExpired(now);
    },
    add,
  };
}

/** The copy of billing's list of ended sessions. */
export interface EndedListCopy {
  readonly known: KnownEndings;
  /** Reports whether the list was asked for at most `ms` milliseconds ago. */
  isYounger(ms: number): boolean;
  /** Asks for it. Concurrent requests share one call. */
  refresh(): Promise<void>;
  /** The same with a call that begins now or later. */
  renew(): Promise<void>;
}

export function openEndedList(records: SessionRecords, clock: Clock): EndedListCopy {
  const known = newKnownEndings();
  let askedAt: number | undefined;
  let running: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    const [at, since] = [clock.now(), known.version()];
    const list = await records.listEnded(since);
    // billing has an older database than before, so what ended in it until that version may be unknown here
    known.take(list.version < since ? await records.listEnded(0) : list, clock.now());
    askedAt = at;
  };
  const refresh = (): Promise<void> => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    known,
    isYounger: (ms) => askedAt !== undefined && isRecent(clock, askedAt, ms),
    refresh,
    renew: async () => {
      await running?.catch(() => undefined);
      await refresh();
    },
  };
}

import { isRecent } from '@reelgate/platform/clock';
import type { Deps } from '../operations/deps.ts';
import { recoverCreates, recoverOwnCreates } from '../operations/recovery/recover-creates.ts';

export const HEARTBEAT_MS = 1000;
/** A process with a heartbeat that has not changed in this many heartbeats of this process after the first is dead. */
export const MISSED_HEARTBEATS_MAX = 10;
/** No other process takes this one for dead so soon after it sent a heartbeat. */
const KNOWN_ALIVE_MS = (MISSED_HEARTBEATS_MAX - 2) * HEARTBEAT_MS;
/** While clocks are not trusted, a time is kept as often as this. */
const CLOCK_DOUBT_EVERY_MS = 3_600_000;
/** Maximum interval in milliseconds between two checks for creates without a running process. */
const CHECK_MS = 5000;

/** Knows which processes on the same database are alive. */
export interface ProcessLiveness {
  /**
   * Sends a heartbeat and reads the heartbeats of the others. Both wait for no other work of the database, so that a
   * busy process is not taken for a dead one.
   */
  beat(): Promise<number>;
  /** Takes over the work of dead processes. */
  takeOver(): Promise<number>;
  /** Settles the work that a crash interrupted, before the service is ready. */
  recoverAtStart(): Promise<void>;
  /** The number of live processes at the last heartbeat, this one included. */
  count(): number;
  /**
   * False once another process may take this one for dead, because its heartbeats are late. The other one frees the
   * leases of before, and no process would free a later one.
   */
  isKnownAlive(): boolean;
  /** False once the clocks of live processes differ, or the clock of this process was set. */
  areClocksTrusted(): boolean;
}

interface OtherProcess {
  readonly heartbeat: number;
  /** The heartbeats of this process since it last changed. */
  readonly misses: number;
  /** True if the heartbeat has ever changed. */
  readonly hasChanged: boolean;
  /** True if the last heartbeat came late by its own time. */
  readonly isLate: boolean;
}

/**
 * A process is alive as long as its heartbeat changes. The time in the heartbeat is not compared, because clocks differ
 * and can be set. While the database is away no heartbeat counts, so no process is taken for dead. If only one process
 * can have the database (`exclusive`), every other process is dead at once.
 */
export function newProcessLiveness(deps: Deps, exclusive: boolean): ProcessLiveness {
  const seen = new Map<string, OtherProcess>();
  const isDead = ({ misses }: OtherProcess): boolean => exclusive || misses >= MISSED_HEARTBEATS_MAX;
  const isUndecided = (other: OtherProcess): boolean => !other.hasChanged && !isDead(other);
  const dead = (): readonly string[] => [...seen].flatMap(([id, other]) => (isDead(other) ? [id] : []));

  const clocks = watchClocks();
  const keepClockDoubt = newClockDoubts(deps);
  const own = newHeartbeat(deps);
  let lastReadAt: number | undefined;

  const beat = async (): Promise<number> => {
    clocks.noteOwn(deps.clock.now());
    await own.send();
    const heartbeats = await deps.store.heartbeats();
    const [after, now] = [lastReadAt, deps.clock.now()];
    lastReadAt = now;
    for (const id of seen.keys()) if (!heartbeats.has(id)) seen.delete(id);
    for (const [id, heartbeat] of heartbeats)
      if (id !== deps.processId) seen.set(id, noteHeartbeat(clocks, seen.get(id), heartbeat, { after, now }));
    if (!clocks.areTrusted(now)) await keepClockDoubt(now);
    return 0;
  };
  let checkedAt: number | undefined;
  /** Only a create that was given up, or that could not write its end, is left without the death of a process. */
  const isCheckDue = (): boolean =>
    seen.values().some(isDead) ||
    deps.creating.values().some((now) => now === 'given_up') ||
    checkedAt === undefined ||
    !isRecent(deps.clock, checkedAt, CHECK_MS);
  const takeOver = async (): Promise<number> => {
    const others = dead();
    const recovered = await recoverCreates(deps, others);
    for (const id of others) {
      // frees its leases at once
      await deps.store.dropLeases(id);
      await deps.store.forget(id);
      // a process that was wrongly taken for dead, and sends a heartbeat again, is judged anew
      seen.delete(id);
    }
    return recovered;
  };
  return {
    count: () => 1 + seen.size - dead().length,
    isKnownAlive: () => exclusive || own.isRecent(),
    areClocksTrusted: () => clocks.areTrusted(deps.clock.now()),
    beat,
    takeOver: async () => {
      if (!isCheckDue()) return 0;
      const recovered = await takeOver();
      await recoverOwnCreates(deps);
      checkedAt = deps.clock.now();
      return recovered;
    },
    recoverAtStart: async () => {
      await beat();
      while ((await takeOver()) > 0);
      const hasCreates = async (): Promise<boolean> => {
        const ids = [...seen].flatMap(([id, other]) => (isUndecided(other) ? [id] : []));
        return ids.length > 0 && (await deps.store.listAbandoned(ids, 1)).length > 0;
      };
      while (await hasCreates()) {
        await deps.clock.sleep(HEARTBEAT_MS);
        await beat();
        while ((await takeOver()) > 0);
      }
    },
  };
}

/** `after` is the time of the poll before, undefined for the first one. */
function noteHeartbeat(
  clocks: ClockWatch,
  before: OtherProcess | undefined,
  heartbeat: number,
  { after, now }: { readonly after: number | undefined; readonly now: number },
): OtherProcess {
  const { heartbeat: last = heartbeat, misses = -1, hasChanged = false, isLate: wasLate = false } = before ?? {};
  if (last === heartbeat || after === undefined) {
    clocks.noteOld(heartbeat, now);
    return { heartbeat, misses: misses + 1, hasChanged, isLate: wasLate };
  }
  return { heartbeat, misses: 0, hasChanged: true, isLate: clocks.noteNew(heartbeat, { after, now, wasLate }) };
}

/** The heartbeat of this process. */
function newHeartbeat({ store, clock, processId }: Deps): { send(): Promise<void>; isRecent(): boolean } {
  let last: number | undefined;
  return {
    send: async () => {
      const at = clock.now();
      await store.heartbeat(processId, at);
      last = at;
    },
    isRecent: () => last !== undefined && isRecent(clock, last, KNOWN_ALIVE_MS),
  };
}

const CLOCKS_DIFFER =
  'a clock was set, or the clocks of the processes differ: equal orders whose answers are lost wait for a person; ' +
  'check the time service of the machines';

/** Keeps times at which clocks are not trusted, so that processes that start later know of them. */
function newClockDoubts({ store, log }: Deps): (now: number) => Promise<void> {
  let last: number | undefined;
  return async (now) => {
    const at = Math.floor(now / CLOCK_DOUBT_EVERY_MS) * CLOCK_DOUBT_EVERY_MS;
    if (at === last) return;
    await store.noteClockDoubt(at);
    if (last === undefined) log.warn({}, CLOCKS_DIFFER);
    last = at;
  };
}

/** Clocks that differ by less are taken for equal. */
const SAME_CLOCK_MS = 5000;
/** A process that looks at its clock less often than this was stopped, or its clock was set forward. */
const LOOK_APART_MS_MAX = 20_000;

/** Notices that the clock of this process was set, or that the clocks of the processes on a database differ. */
export interface ClockWatch {
  /** Notes the time of this process. Called at each heartbeat, also at one that fails. */
  noteOwn(now: number): void;
  /**
   * Records a heartbeat of another process, which came between `after` and `now`. Returns whether its time is earlier
   * than that. Such a heartbeat can have waited for a slow database, but two in a row show a clock that is behind.
   */
  noteNew(
    heartbeat: number,
    since: { readonly after: number; readonly now: number; readonly wasLate: boolean },
  ): boolean;
  /** Notes a heartbeat of another process that may be dead for long. */
  noteOld(heartbeat: number, now: number): void;
  /**
   * True until a doubt is recorded. The times that were written before stay in doubt, so it does not become true again
   * in the life of the process.
   */
  areTrusted(now: number): boolean;
}

export function watchClocks(): ClockWatch {
  let lastLook: number | undefined;
  let wereWrong = false;
  const noteRange = (at: number, { from, to }: { readonly from: number; readonly to: number }): void => {
    if (at < from - SAME_CLOCK_MS || at > to + SAME_CLOCK_MS) wereWrong = true;
  };
  const check = (now: number): void => {
    if (lastLook !== undefined) noteRange(now, { from: lastLook, to: lastLook + LOOK_APART_MS_MAX - SAME_CLOCK_MS });
  };
  return {
    noteOwn: (now) => {
      check(now);
      lastLook = now;
    },
    noteNew: (heartbeat, { after, now, wasLate }) => {
      noteRange(heartbeat, { from: wasLate ? after : -Infinity, to: now });
      return heartbeat < after - SAME_CLOCK_MS;
    },
    noteOld: (heartbeat, now) => noteRange(heartbeat, { from: -Infinity, to: now }),
    areTrusted: (now) => {
      check(now);
      return !wereWrong;
    },
  };
}

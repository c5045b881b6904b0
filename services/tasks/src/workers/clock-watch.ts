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
    noteOld: (heartbeat, now) => {
      noteRange(heartbeat, { from: -Infinity, to: now });
    },
    areTrusted: (now) => {
      check(now);
      return !wereWrong;
    },
  };
}

import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { waitForAbort } from './drain.ts';
import type { Drain, DrainTimes } from './drain.ts';

/** After the time-out of a drain, work that was cut off has this long to end. */
const CUT_MS_MAX = 5000;
/** All parts together stop within this time. */
const PARTS_MS_MAX = 15_000;
/** An idle connection waits no longer for a last request. */
const IDLE_MS_MAX = 2000;

/** Work that continues for a while after the stop has begun. */
export interface DrainWork {
  readonly name: string;
  readonly times: DrainTimes;
  /**
   * Resolves when no other process needs this one any longer, immediately by default. No request is refused before
   * that.
   */
  readonly released?: (() => Promise<void>) | undefined;
  drain(drain: Drain): Promise<void>;
}

/** The started parts of a program. They are stopped once, in reverse order. */
export interface Lifecycle {
  /** Aborted when the stop begins, before the first part is stopped. */
  readonly stopping: AbortSignal;
  /** Registers the stop of a part that has just been started. */
  add(name: string, stop: () => Promise<void> | void): void;
  /** Registers work to be ended. All such work drains side by side, before the first part is stopped. */
  addDrain(draining: DrainWork): void;
  stop(options?: StopOptions): Promise<void>;
}

export interface StopOptions {
  /** Leaves out the leads. */
  readonly atOnce?: boolean;
}

export function newLifecycle(log: Log, clock: Clock = systemClock): Lifecycle {
  const started: { name: string; stop: () => Promise<void> | void }[] = [];
  const drains: DrainWork[] = [];
  const stopping = new AbortController();
  let stopped: Promise<void> | undefined;
  const stopAll = async ({ atOnce = false }: StopOptions): Promise<void> => {
    stopping.abort();
    await Promise.all(
      drains.map((one) => drainOne(atOnce ? { ...one, times: { ...one.times, leadMs: 0 } } : one, { log, clock })),
    );
    const late = new AbortController();
    const done = new AbortController();
    void clock.sleep(PARTS_MS_MAX, done.signal).then(() => late.abort());
    for (const { name, stop } of started.toReversed()) await stopPart(name, stop, { log, late: late.signal });
    done.abort();
  };
  return {
    stopping: stopping.signal,
    add: (name, stop) => {
      started.push({ name, stop });
    },
    addDrain: (draining) => {
      drains.push(draining);
    },
    stop: (options = {}) => (stopped ??= stopAll(options)),
  };
}

async function drainOne(
  draining: DrainWork,
  { log, clock }: { readonly log: Log; readonly clock: Clock },
): Promise<void> {
  const {
    name,
    times: { leadMs, timeoutMs },
  } = draining;
  const [closing, over] = [new AbortController(), new AbortController()];
  const [cut, done] = [new AbortController(), new AbortController()];
  const after = async (ms: number, phase: AbortController): Promise<void> => {
    await clock.sleep(ms, done.signal);
    if (!done.signal.aborted) phase.abort();
  };
  const keepTime = async (): Promise<void> => {
    await clock.sleep(leadMs, done.signal);
    await draining.released?.();
    closing.abort();
    await after(timeoutMs, over);
    await after(CUT_MS_MAX, cut);
  };
  void keepTime();
  const drained = draining.drain({ closing: closing.signal, over: over.signal, idleMs: Math.min(leadMs, IDLE_MS_MAX) });
  await waitForEnd(name, drained, { log, late: cut.signal });
  done.abort();
}

async function stopPart(
  name: string,
  stop: () => Promise<void> | void,
  options: { readonly log: Log; readonly late: AbortSignal },
): Promise<void> {
  await waitForEnd(name, (async () => stop())(), options);
}

/** Waits for the end of a part, or until it is late. A fault is logged. */
async function waitForEnd(
  part: string,
  work: Promise<void>,
  { log, late }: { readonly log: Log; readonly late: AbortSignal },
): Promise<void> {
  const inTime = work.then(
    () => true,
    (error: unknown) => {
      log.error({ part, err: error }, 'a part did not stop cleanly');
      return true;
    },
  );
  if (!(await Promise.race([inTime, waitForAbort(late).then(() => false)])))
    log.error({ part }, 'a part did not stop in time');
}

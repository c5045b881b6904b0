import type { Clock } from '@reelgate/platform/clock';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { PassResult, Worker } from '@reelgate/platform/lifecycle/worker';
import type { Log } from '@reelgate/platform/log';

const IDLE_MS = 1000;
/** The number of renewals in the time of a lease. */
const RENEWALS = 5;
/** Assumed until the first lease has said how long it lasts. */
const LEASE_MS = 3000;
const RENEW_LEAST_MS = 200;
/** The most leases in one renewal. */
const RENEWED_MAX = 64;

/** A lease of this process. No other process renews it, so it ends within seconds of the death of this one. */
export interface HeldLease {
  /** Reports whether new work may begin under it: it is not lost, and its time is not over. */
  isHeld(): boolean;
  /** Marks it as lost, so that it is not renewed any more. */
  lose(): void;
  /** Aborted when the lease is lost. */
  readonly lost: AbortSignal;
  /** Aborted when the pool stops: no further work may begin. */
  readonly stopping: AbortSignal;
  /** Aborted when the drain time of the stop is over: work that still runs is cut off. */
  readonly cutOff: AbortSignal;
}

/** Work that was leased together. */
export interface LeasedWork<Work> {
  readonly work: readonly Work[];
  readonly leaseMs?: number | undefined;
  /** Tells the worker of the pool when to lease again. */
  readonly next: PassResult;
}

export interface LeasedPoolOptions<Work> {
  /** Names the pool in the log. */
  readonly name: string;
  /** The most work that runs at one time. */
  readonly workers: number;
  /** The most work of one lease; all free workers by default. */
  readonly leaseMax?: number;
  /** The longest wait of a stop for the running work, in milliseconds. */
  readonly drainMs: number;
  readonly idleMs?: number;
  /** Milliseconds between the begins of two leases, so that work that becomes due meanwhile shares the next one. */
  readonly apartMs?: number;
  readonly lease: (limit: number) => Promise<LeasedWork<Work>>;
  /** Renews leases and returns the work whose lease is lost. Left out if each step of the work extends its lease. */
  readonly renew?: (work: readonly Work[]) => Promise<readonly Work[]>;
  readonly run: (work: Work, lease: HeldLease) => Promise<void>;
  /** Called when a stop has cut off the work that still ran. */
  readonly onCutOff?: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LeasedPool {
  /** Leases work at once, without waiting for the next interval. */
  wake(): void;
  /**
   * Leases and begins nothing more, waits `drainMs` for the running work, at most until `over`, and then cuts it off.
   * It can be called twice.
   */
  stop(over?: AbortSignal): Promise<void>;
  /** The amount of work that runs now. */
  readonly running: () => number;
}

interface RunningWork<Work> {
  readonly work: Work;
  readonly lost: AbortController;
  readonly cutOff: AbortController;
  readonly done: Promise<void>;
  until: number;
}

/** Leases work while workers are free, runs it, and renews its leases until it ends. */
export function startLeasedPool<Work>(options: LeasedPoolOptions<Work>): LeasedPool {
  const { name, workers, leaseMax = workers, drainMs, idleMs = IDLE_MS, apartMs, clock, log } = options;
  const { lease, run, onCutOff } = options;
  const stopping = new AbortController();
  const running = new Set<RunningWork<Work>>();
  let leaseMs = LEASE_MS;

  const begin = (work: Work, until: number): void => {
    const [lost, cutOff] = [new AbortController(), new AbortController()];
    const held: HeldLease = {
      isHeld: () => !lost.signal.aborted && clock.now() < entry.until,
      lose: () => lost.abort(),
      lost: lost.signal,
      stopping: stopping.signal,
      cutOff: cutOff.signal,
    };
    const runToEnd = async (): Promise<void> => {
      // the entry must stand before the work begins
      await Promise.resolve();
      try {
        await run(work, held);
      } catch (error) {
        log.error({ pool: name, err: error }, 'leased work failed');
      }
      running.delete(entry);
      taker.wake();
    };
    const entry: RunningWork<Work> = { work, lost, cutOff, done: runToEnd(), until };
    running.add(entry);
  };
  const renew = (entries: readonly RunningWork<Work>[]): Promise<void> => renewAll(options, entries, leaseMs);
  const listHeld = (): readonly RunningWork<Work>[] => [...running].filter(({ lost }) => !lost.signal.aborted);
  const taker = startWorker({
    name,
    clock,
    log,
    idleMs,
    apartMs,
    pass: async () => {
      const limit = Math.min(leaseMax, workers - running.size);
      if (limit <= 0) return 0;
      // work that still runs here must not be leased a second time
      await renew(listHeld().filter(({ until }) => until <= clock.now()));
      const at = clock.now();
      const leased = await lease(limit);
      leaseMs = leased.leaseMs ?? leaseMs;
      for (const work of leased.work) begin(work, at + leaseMs);
      return leased.next;
    },
  });
  const startKeeper = (): Worker =>
    startWorker({
      name: `${name}: leases`,
      clock,
      log,
      idleMs: RENEW_LEAST_MS,
      pass: async () => {
        await renew(listHeld());
        return { dueAt: clock.now() + leaseMs / RENEWALS };
      },
    });
  const keeper = options.renew === undefined ? undefined : startKeeper();
  const stop = async (over: AbortSignal | undefined): Promise<void> => {
    stopping.abort();
    await taker.stop();
    const all = Promise.all([...running].map(({ done }) => done));
    await waitUntilDrained(all, { ms: drainMs, clock, over });
    for (const { cutOff } of running) cutOff.abort();
    onCutOff?.();
    await all;
    await keeper?.stop();
  };
  let stopped: Promise<void> | undefined;
  return {
    wake: () => taker.wake(),
    running: () => running.size,
    stop: (over) => (stopped ??= stop(over)),
  };
}

async function renewAll<Work>(
  { renew, clock }: LeasedPoolOptions<Work>,
  entries: readonly RunningWork<Work>[],
  leaseMs: number,
): Promise<void> {
  if (renew === undefined) return;
  for (let from = 0; from < entries.length; from += RENEWED_MAX) {
    const some = entries.slice(from, from + RENEWED_MAX);
    const until = clock.now() + leaseMs;
    const lost = new Set(await renew(some.map(({ work }) => work)));
    for (const entry of some)
      if (lost.has(entry.work)) entry.lost.abort();
      else entry.until = until;
  }
}

interface DrainOptions {
  readonly ms: number;
  readonly clock: Clock;
  readonly over: AbortSignal | undefined;
}

/** Resolves when all work has ended, and after the drain time at the latest. */
async function waitUntilDrained(all: Promise<unknown>, { ms, clock, over }: DrainOptions): Promise<void> {
  const ended = new AbortController();
  const late = over === undefined ? ended.signal : AbortSignal.any([over, ended.signal]);
  await Promise.race([all, clock.sleep(ms, late)]);
  ended.abort();
}

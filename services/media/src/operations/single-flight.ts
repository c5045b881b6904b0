/**
 * Runs work once per name, however many callers ask for it at the same time. The work continues when its callers leave,
 * because it has limits of its own and the next caller finds it done. Its signal is aborted when all callers have left.
 * The work can then give up the parts that have not begun. A caller that arrives during that time starts the work
 * again.
 */
export interface SingleFlight<T> {
  /** Rejects with the signal's reason when the signal is aborted first. */
  run(name: string, work: (left: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Resolves when no work runs any more. */
  settled(): Promise<void>;
}

export function singleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, Flight<T>>();

  const start = (name: string, work: (left: AbortSignal) => Promise<T>): Flight<T> => {
    const leaving = new AbortController();
    const flight = { callers: 0, leaving, done: work(leaving.signal).finally(() => running.delete(name)) };
    // the work may fail after all callers have left
    flight.done.catch(() => undefined);
    running.set(name, flight);
    return flight;
  };
  const run: SingleFlight<T>['run'] = async (name, work, signal) => {
    const flight = running.get(name) ?? start(name, work);
    flight.callers += 1;
    try {
      return await orAborted(flight.done, signal);
    } catch (error) {
      if (error instanceof AllLeft && !signal.aborted) return await run(name, work, signal);
      throw error;
    } finally {
      flight.callers -= 1;
      if (flight.callers === 0) flight.leaving.abort(new AllLeft());
    }
  };
  return {
    run,
    settled: async () => {
      await Promise.allSettled([...running.values()].map(({ done }) => done));
    },
  };
}

interface Flight<T> {
  callers: number;
  readonly leaving: AbortController;
  readonly done: Promise<T>;
}

/** The reason to give up the work: no caller waits for it. */
class AllLeft extends Error {
  override readonly name = 'AllLeft';
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

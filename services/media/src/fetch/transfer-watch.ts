import type { Clock } from '@reelgate/platform/clock';
import { FetchFault } from './fetch-fault.ts';

const TICK_MS = 100;
const SPEED_WINDOW_MS = 15_000;

export type Stage = 'resolve' | 'connect' | 'headers' | 'body';

export interface TransferLimits {
  readonly stagesMs: Readonly<Record<Stage, number>>;
  readonly totalMs: number;
  /** Over any 15 seconds of a body. */
  readonly leastBytesPerSecond: number;
}

/** Watches one transfer, whose every wait has a limit. */
export interface TransferWatch {
  /** Aborted with a FetchFault when a limit is passed, or for the reason that `stop` was given. */
  readonly signal: AbortSignal;
  enter(stage: Stage): void;
  received(bytes: number): void;
  stop(reason?: unknown): void;
}

export function watchTransfer(clock: Clock, limits: TransferLimits): TransferWatch {
  const abort = new AbortController();
  const stopped = new AbortController();
  const startedAt = clock.now();
  let stage: Stage = 'connect';
  let movedAt = startedAt;
  let total = 0;
  let window = { from: startedAt, total: 0 };

  const faultAt = (now: number): FetchFault | undefined => {
    if (now - startedAt >= limits.totalMs) return tooSlow(`it took longer than ${seconds(limits.totalMs)}`);
    if (now - movedAt >= limits.stagesMs[stage]) return tooSlow(`${SILENCES[stage]} within ${seconds(limits.stagesMs[stage])}`);
    if (stage !== 'body' || now - window.from < SPEED_WINDOW_MS) return undefined;
    if (total - window.total < limits.leastBytesPerSecond * SPEED_WINDOW_MS / 1000) return tooSlow('it came too slowly');
    window = { from: now, total };
    return undefined;
  };
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await clock.sleep(TICK_MS, stopped.signal);
      const fault = stopped.signal.aborted ? undefined : faultAt(clock.now());
      if (fault === undefined) continue;
      abort.abort(fault);
      return;
    }
  };
  void run();

  return {
    signal: abort.signal,
    enter: (next) => {
      stage = next;
      movedAt = clock.now();
      window = { from: movedAt, total };
    },
    received: (bytes) => {
      total += bytes;
      movedAt = clock.now();
    },
    stop: (reason) => {
      stopped.abort();
      abort.abort(reason);
    },
  };
}

const SILENCES: Readonly<Record<Stage, string>> = {
  resolve: 'its name was not found',
  connect: 'no connection was made',
  headers: 'no answer began',
  body: 'no more of it came',
};

function tooSlow(why: string): FetchFault {
  return new FetchFault('slow', `could not be fetched in time: ${why}`);
}

const seconds = (ms: number): string => `${String(ms / 1000)} s`;

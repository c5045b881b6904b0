import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { FetchFault, NOT_REACHED } from '../../domain/fetch-fault.ts';

const TICK_MS = 100;
/** The maximum number of bytes of headers, frames and redirects beyond twice the bytes of the body. */
const OVERHEAD_BYTES_MAX = 1024 * 1024;

export type Stage = 'resolve' | 'connect' | 'headers' | 'body';

export interface TransferLimits {
  readonly stagesMs: Readonly<Record<Stage, number>>;
  readonly totalMs: number;
  /** The least speed of a body, over every window of `speedWindowMs`. */
  readonly leastBytesPerSecond: number;
  readonly speedWindowMs: number;
}

/** Enforces the time limits of one transfer. */
export interface TransferWatch {
  /** Aborted with a FetchFault when a limit is reached, or with the reason that `stop` gets. */
  readonly signal: AbortSignal;
  /** The time in `queue`, the wait for a permit, does not count. That wait has its own limit. */
  enter(stage: Stage | 'queue'): void;
  received(bytes: number): void;
  /** Recent speed of the body in bytes per second. */
  speed(): number;
  stop(reason?: unknown): void;
}

/** `bytesThrough` returns the bytes that the connections received so far. */
export function watchTransfer(clock: Clock, limits: TransferLimits, bytesThrough: () => number): TransferWatch {
  const abort = new AbortController();
  const stopped = new AbortController();
  let startedAt = clock.now();
  let stage: Stage | 'queue' = 'connect';
  let movedAt = startedAt;
  let total = 0;
  let window = { from: startedAt, total: 0 };
  const speed = recentSpeed(clock);

  const faultAt = (now: number): FetchFault | undefined => {
    if (stage === 'queue') return undefined;
    if (bytesThrough() - 2 * total > OVERHEAD_BYTES_MAX)
      return new FetchFault('network', NOT_REACHED, `far more bytes came than the ${total} of its body`);
    if (now - startedAt >= limits.totalMs) return tooSlow(`it took longer than ${seconds(limits.totalMs)}`);
    if (now - movedAt >= limits.stagesMs[stage])
      return tooSlow(`${SILENCES[stage]} within ${seconds(limits.stagesMs[stage])}`);
    if (stage !== 'body' || now - window.from < limits.speedWindowMs) return undefined;
    if (total - window.total < (limits.leastBytesPerSecond * limits.speedWindowMs) / 1000)
      return tooSlow('its bytes came too slowly');
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
      const now = clock.now();
      if (stage === 'queue') startedAt += now - movedAt;
      stage = next;
      movedAt = now;
      window = { from: movedAt, total };
    },
    received: (bytes) => {
      total += bytes;
      movedAt = clock.now();
      speed.received(bytes);
    },
    speed: () => speed.now(),
    stop: (reason: unknown = NOT_AWAITED) => {
      stopped.abort(NOT_AWAITED);
      abort.abort(reason);
    },
  };
}

const SILENCES: Readonly<Record<Stage, string>> = {
  resolve: 'its name was not found',
  connect: 'no connection was opened',
  headers: 'no answer came',
  body: 'no more bytes came',
};

function tooSlow(why: string): FetchFault {
  return new FetchFault('slow', `could not be fetched in time: ${why}`);
}

const seconds = (ms: number): string => `${ms / 1000} s`;

/** The weight of past bytes halves in this time. */
const MEAN_LIFE_MS = 2000;

interface RecentSpeed {
  received(bytes: number): void;
  /** Recent speed in bytes per second. */
  now(): number;
}

function recentSpeed(clock: Clock): RecentSpeed {
  let at = clock.now();
  let bytes = 0;
  const fade = (): void => {
    const now = clock.now();
    bytes *= Math.exp(-Math.max(now - at, 0) / MEAN_LIFE_MS);
    at = now;
  };
  return {
    received: (more) => {
      fade();
      bytes += more;
    },
    now: () => {
      fade();
      return (bytes / MEAN_LIFE_MS) * 1000;
    },
  };
}

import { Session } from 'node:inspector/promises';
import { performance } from 'node:perf_hooks';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';

const WATCHED_MS = 1000;
/** The maximum number of watched seconds. Under load V8 has collected by then without a request. */
const WATCHES_MAX = 60;
/** The part of a second in which a quiet process runs. One with requests every second runs longer. */
const QUIET_PART = 0.05;

export interface CollectDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
  /** Tells how much of the time since the last call the process was running, from 0 to 1. */
  readonly busyPart?: () => number;
  readonly collect?: () => Promise<void>;
}

/**
 * Collects the memory of the start: the texts of modules, schemas, and buffers in which they were read. V8 keeps that
 * memory until much later, and an idle program would hold half as much again. A collection stops the process for more
 * than a tenth of a second, so neither readiness nor a request waits for it. It waits for a quiet second, and never
 * rejects.
 */
export async function collectStart({
  clock,
  log,
  stopping,
  busyPart = busyPartOfLoop(),
  collect = collectAll,
}: CollectDeps): Promise<void> {
  for (let watches = 0; watches < WATCHES_MAX; watches += 1) {
    await clock.sleep(WATCHED_MS, stopping);
    if (stopping.aborted) return;
    if (busyPart() >= QUIET_PART) continue;
    return collect().catch((error: unknown) => log.warn({ err: error }, 'the memory of the start was not collected'));
  }
}

function busyPartOfLoop(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

async function collectAll(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}

import { isRecent } from '@reelgate/platform/clock';
import type { Span } from '@reelgate/platform/trace/trace';
import type { Clock } from '@reelgate/platform/clock';
import type { Job, Jobs } from '../clients/jobs-client.ts';
import type { TaskChanges } from './task-changes.ts';

/** The interval of polls by a waiting read: no event reports a start, and the event of an end can be lost. */
const POLL_INTERVAL_MS = 2000;

export interface AwaitJobDeps {
  readonly clock: Clock;
  readonly jobs: Jobs;
  readonly changes: TaskChanges;
}

export interface WaitForJob {
  readonly accountId: string;
  readonly jobId: string;
  readonly ms: number;
  readonly requestId: string;
  readonly span?: Span | undefined;
  /** Aborted when the client leaves or the gateway stops. */
  readonly gone: AbortSignal;
}

/** Waits until the state of a job changes, the job ends or the time is over, and then reads it. */
export async function awaitJob(
  { clock, jobs, changes }: AwaitJobDeps,
  { accountId, jobId, ms, requestId, span, gone }: WaitForJob,
): Promise<Job> {
  let wakeUp = new AbortController();
  let missed = false;
  const watch = changes.watch({ accountId, taskId: jobId }, () => {
    missed = true;
    wakeUp.abort();
  });
  try {
    const from = clock.now();
    let job = await jobs.get(accountId, jobId, requestId, span);
    const { state } = job;
    while (isOpen(job) && job.state === state && isRecent(clock, from, ms) && !gone.aborted) {
      wakeUp = new AbortController();
      if (!missed)
        await clock.sleep(Math.min(POLL_INTERVAL_MS, from + ms - clock.now()), AbortSignal.any([wakeUp.signal, gone]));
      missed = false;
      job = await jobs.get(accountId, jobId, requestId, span);
    }
    return job;
  } finally {
    watch.close();
  }
}

/** Reports whether a job has not ended. */
export function isOpen({ state }: Job): boolean {
  return state === 'queued' || state === 'in_progress';
}

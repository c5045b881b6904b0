import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Job, Jobs } from '../clients/jobs-client.ts';
import type { TaskChanges } from './task-changes.ts';

/** How often a job is looked at by those who wait: nothing tells that it was begun, and what tells that it ended may be lost. */
const LOOK_EVERY_MS = 2000;

export interface AwaitJobDeps {
  readonly clock: Clock;
  readonly jobs: Pick<Jobs, 'get'>;
  readonly changes: TaskChanges;
}

export interface WaitingForJob {
  readonly accountId: string;
  readonly jobId: string;
  readonly ms: number;
  readonly requestId: string;
  /** Aborted when the client went away, or the gateway stops. */
  readonly gone: AbortSignal;
}

/** Reads a job once its state is another than at the beginning, or it has ended, or the time is over. */
export async function awaitJob(
  { clock, jobs, changes }: AwaitJobDeps,
  { accountId, jobId, ms, requestId, gone }: WaitingForJob,
): Promise<Job> {
  let nap = new AbortController();
  let missed = false;
  const watch = changes.watch({ accountId, taskId: jobId }, () => {
    missed = true;
    nap.abort();
  });
  try {
    const from = clock.now();
    let job = await jobs.get(accountId, jobId, requestId);
    const { state } = job;
    while (isOpen(job) && job.state === state && isRecent(clock, from, ms) && !gone.aborted) {
      nap = new AbortController();
      if (!missed)
        await clock.sleep(Math.min(LOOK_EVERY_MS, from + ms - clock.now()), AbortSignal.any([nap.signal, gone]));
      missed = false;
      job = await jobs.get(accountId, jobId, requestId);
    }
    return job;
  } finally {
    watch.close();
  }
}

/** Whether it has not ended. */
export function isOpen({ state }: Pick<Job, 'state'>): boolean {
  return state === 'queued' || state === 'in_progress';
}

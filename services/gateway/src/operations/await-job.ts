import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { isFinal, readJob } from '../clients/tasks-client.ts';
import type { Job, JobRead, JobsClient } from '../clients/tasks-client.ts';
import type { TaskChanges } from './task-changes.ts';

/** The interval of polls by a waiting read: no event reports a start, and the event of an end can be lost. */
const POLL_INTERVAL_MS = 2000;

export interface AwaitJobDeps {
  readonly clock: Clock;
  readonly jobs: JobsClient;
  readonly changes: TaskChanges;
}

export interface WaitForJob extends JobRead {
  readonly ms: number;
  /** Aborted when the client leaves or the gateway stops. */
  readonly gone: AbortSignal;
}

/** Waits until the state of a job changes, the job ends or the time is over, and then reads it. */
export async function awaitJob(
  { clock, jobs, changes }: AwaitJobDeps,
  { ms, gone, ...read }: WaitForJob,
): Promise<Job> {
  let wakeUp = new AbortController();
  let missed = false;
  const watch = changes.watch({ accountId: read.accountId, taskId: read.jobId }, () => {
    missed = true;
    wakeUp.abort();
  });
  try {
    const from = clock.now();
    let job = await readJob(jobs, read);
    const { state } = job;
    while (!isFinal(job) && job.state === state && isRecent(clock, from, ms) && !gone.aborted) {
      wakeUp = new AbortController();
      if (!missed)
        await clock.sleep(Math.min(POLL_INTERVAL_MS, from + ms - clock.now()), AbortSignal.any([wakeUp.signal, gone]));
      missed = false;
      job = await readJob(jobs, read);
    }
    return job;
  } finally {
    watch.close();
  }
}

import type { Job } from '../../domain/job.ts';
import type { JobDeps } from './job-deps.ts';

/** Says that a job waits in the queue again. */
export function logReturned({ log }: Pick<JobDeps, 'log'>, { id, requestId }: Job, delayMs: number): void {
  log.info({ taskId: id, requestId, delayMs }, 'a job waits in the queue');
}

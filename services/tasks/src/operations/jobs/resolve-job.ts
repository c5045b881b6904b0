import { Problem } from '@reelgate/platform/problem';
import type { Job } from '../../domain/job.ts';
import type { JobDeps } from './job-deps.ts';
import type { Decision, Resolution } from '../attention/resolve-attention.ts';
import { alreadySettled, notWaiting } from '../attention/resolve-attention.ts';

const MONEY: Readonly<Record<Exclude<Resolution, 'retry'>, 'charged' | 'released'>> = {
  completed: 'charged',
  failed: 'released',
};

/**
 * Carries out a person's decision over a job whose outcome is unknown. The job stays failed, because its answer is
 * lost. The decision says whether the call took place, and so whether it is charged.
 */
export async function resolveJob(
  { attention, calls, clock }: Pick<JobDeps, 'attention' | 'calls' | 'clock'>,
  job: Job,
  { resolution, actor, reason }: Decision,
): Promise<void> {
  if (resolution === 'retry')
    throw new Problem({
      kind: 'conflict',
      reason: 'job_not_retried',
      message:
        'the call may have taken place and cannot be retried; ' +
        'decide as completed to charge the hold, or as failed to release it',
    });
  if (!(await attention.isWaiting(job.id))) throw notWaiting();
  const ended = await calls.end(job.id, MONEY[resolution]);
  if (ended !== MONEY[resolution]) throw alreadySettled(ended);
  if (!(await attention.resolve(job.id, { resolution, actor, why: reason, at: clock.now() }))) throw notWaiting();
}

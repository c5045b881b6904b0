import type { Tracing } from '@reelgate/platform/trace/trace';
import type { Job } from '../../domain/job.ts';

export interface JobEnd {
  readonly state: 'completed' | 'failed' | 'withdrawn';
  readonly at: number;
  /** The code of the failure, if it failed. */
  readonly code?: string | undefined;
}

/** Writes the span of a job that has ended, as `writeTaskSpan` does for a task. */
export function writeJobSpan({ tracing }: { readonly tracing: Tracing }, job: Job, { state, at, code }: JobEnd): void {
  if (job.trace === undefined) return;
  tracing.writeSpan(job.trace, `job ${job.endpoint}`, {
    parent: job.traceParent,
    from: job.createdAt,
    to: at,
    attributes: {
      'reelgate.task.id': job.id,
      'reelgate.account.id': job.accountId,
      'reelgate.task.kind': job.endpoint,
      'reelgate.task.model': job.model,
      'reelgate.task.state': state,
      'reelgate.task.outcome': code ?? state,
      'reelgate.task.attempt': job.starts,
      'gen_ai.request.model': job.model,
    },
    failed: code,
  });
}

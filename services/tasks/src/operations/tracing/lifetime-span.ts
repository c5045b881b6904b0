import type { Attributes, Tracing } from '@reelgate/platform/trace/trace';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import type { Job } from '../../store/job-store.ts';
import type { NewTask, TaskReader } from '../../store/task-store.ts';

/** A task that has ended, or a create that was refused. */
type EndedTask = NewTask | Task;

export interface TaskEnd {
  readonly state: 'completed' | 'failed';
  readonly at: number;
  /** The code of the failure, if it failed. */
  readonly code?: string | undefined;
}

/**
 * Writes the span of a task that has ended, under the id that its create minted: from its create to its end. Only the
 * caller that ended the task by its write calls this, so it happens once, in whichever process that is.
 */
export async function writeTaskSpan({ tracing, store }: Deps, task: EndedTask, end: TaskEnd): Promise<void> {
  if (task.trace === undefined) return;
  const [attempts, source] = await Promise.all([
    store.attempts(task.id).catch(() => []),
    sourceTrace(store, task).catch(() => undefined),
  ]);
  tracing.writeSpan(task.trace, `task ${task.order.kind}`, {
    parent: task.traceParent,
    from: task.createdAt,
    to: end.at,
    attributes: { ...toTaskAttributes(task), ...toEndAttributes(end), 'reelgate.task.attempt': attempts.length },
    links: source === undefined ? [] : [source],
    failed: end.code,
  });
}

function toTaskAttributes(task: EndedTask): Attributes {
  const { id, accountId, order, seconds } = task;
  const polled = 'polls' in task ? task : undefined;
  return {
    'reelgate.task.id': id,
    'reelgate.account.id': accountId,
    'reelgate.task.kind': order.kind,
    'reelgate.task.model': order.model,
    'reelgate.task.resolution': order.resolution,
    'reelgate.task.seconds': seconds,
    'reelgate.task.channel': polled?.mapping?.channel,
    'reelgate.task.polls': polled?.polls ?? 0,
    'reelgate.task.poll_spans': polled?.pollSpans ?? 0,
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.request.model': order.model,
  };
}

function toEndAttributes({ state, code }: TaskEnd): Attributes {
  return { 'reelgate.task.state': state, 'reelgate.task.outcome': code ?? state };
}

/** The span of the source task of a regeneration. */
async function sourceTrace(store: TaskReader, { order }: EndedTask): Promise<string | undefined> {
  return order.sourceTaskId === undefined ? undefined : (await store.find(order.sourceTaskId))?.trace;
}

interface JobEnd {
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

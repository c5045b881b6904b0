import { isProblem } from '@reelgate/platform/problem';
import type { Report } from '../../domain/report.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { endTask } from '../ends/end-task.ts';
import { inWorkSpan } from '../tracing/work-span.ts';
import { pollAsPlanned, postponePoll } from './postpone-poll.ts';

const STORE_RESULT = { name: 'store result' };

type Success = Extract<Report, { phase: 'succeeded' }>;

/**
 * Completes a task after media has fetched and kept its result. Without a result the upstream is polled again with
 * backoff, because the next report may have a fresh URL.
 */
export async function completeTask(deps: Deps, task: Task, report: Success): Promise<void> {
  if (task.order.kind === 'context_ir') {
    if (report.prompt === undefined)
      await postponePoll(deps, task, 'the upstream reports success without a prompt', 'no_result');
    else await end(deps, task, report, { result: { prompt: report.prompt } });
    return;
  }
  if (report.url === undefined) {
    await postponePoll(deps, task, 'the upstream reports success without a URL', 'no_result');
    return;
  }
  const begunAt = deps.clock.now();
  try {
    const wanted = { accountId: task.accountId, taskId: task.id, url: report.url, credential: report.credential };
    const { result, expiresAt } = await inWorkSpan(deps, task, STORE_RESULT, (span) =>
      deps.media.ingest(wanted, { span }),
    );
    await end(deps, task, report, { result, expiresAt, fetchMs: deps.clock.now() - begunAt });
  } catch (error) {
    if (isProblem(error, 'media_busy')) {
      await pollAsPlanned(deps, task);
      return;
    }
    const detail = isProblem(error) ? error.message : 'internal error';
    deps.log.warn({ taskId: task.id, err: error }, 'a result could not be stored');
    await postponePoll(deps, task, `the result could not be stored: ${detail}`, 'result_unavailable');
  }
}

async function end(
  deps: Deps,
  task: Task,
  report: Success,
  kept: { readonly result: NonNullable<Task['result']>; readonly expiresAt?: number; readonly fetchMs?: number },
): Promise<void> {
  await endTask(deps, task, {
    state: 'completed',
    at: deps.clock.now(),
    upstreamStatus: report.status,
    usage: report.usage,
    upstreamEndedAt: report.endedAt,
    ...kept,
  });
}

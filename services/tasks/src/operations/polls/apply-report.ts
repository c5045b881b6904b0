import { isProblem } from '@reelgate/platform/problem';
import { pollInterval } from '../../domain/poll-interval.ts';
import { checkUpstreamCost, move } from '../../domain/report.ts';
import type { Report } from '../../domain/report.ts';
import type { Doubt, Task } from '../../domain/task.ts';
import type { Note, Progress } from '../../store/task-store.ts';
import { raiseAttention } from '../ends/raise-attention.ts';
import type { Deps } from '../deps.ts';
import { endTask } from '../ends/end-task.ts';
import { toPublicFailure, toUpstreamFailure } from '../ends/public-failure.ts';
import { inWorkSpan, traceToPassOn } from '../tracing/work-span.ts';
import { pollAsPlanned, postponePoll } from './postpone-poll.ts';

const STORE_RESULT = { name: 'store result' };

/** The least progress of a task that runs, in percent. */
const PROGRESS_RUNNING = 10;
const NO_RESULT = 'no_result';
/** Polls in a row that report a success without a result, the last of which ends the task. They take about a quarter of an hour. */
const POLLS_WITHOUT_RESULT_MAX = 20;
const RESOLVED_BY_SERVICE = { resolution: 'repaired', actor: 'service' };

type Apply<P extends Report['phase']> = (
  deps: Deps,
  task: Task,
  report: Extract<Report, { phase: P }>,
) => Promise<void>;

const APPLY: { readonly [P in Report['phase']]: Apply<P> } = {
  queued: writeUnfinished,
  running: writeUnfinished,
  succeeded: completeTask,
  failed: async (deps, task, report) => {
    await endTask(deps, task, {
      state: move(task.state, 'fails') as 'failed',
      at: deps.clock.now(),
      upstreamStatus: report.status,
      failure: toPublicFailure(report.failure, task.mapping?.upstreamId),
      upstreamFailure: toUpstreamFailure(report.failure),
      upstreamCostMicroUsd: checkUpstreamCost(report.costMicroUsd),
      upstreamEndedAt: report.endedAt,
    });
  },
  unrecognised: async (deps, task, report) => {
    await writeProgress(
      deps,
      task,
      { ...toProgress(deps, task), upstreamStatus: report.status, unrecognised: true },
      report.status,
    );
    await raiseAttention(
      deps,
      task,
      'unknown_status',
      `the upstream reports the status ${JSON.stringify(report.status)}, which the adapter does not know`,
    );
  },
};

/** The doubts that a report settles. The end of a task settles all of them. */
const SETTLES: Readonly<Record<Report['phase'], ReadonlySet<Doubt['reason']>>> = {
  queued: new Set(['unknown_upstream_task', 'no_result', 'result_unavailable']),
  running: new Set(['unknown_upstream_task', 'no_result', 'result_unavailable']),
  unrecognised: new Set(['unknown_upstream_task', 'no_result', 'result_unavailable']),
  succeeded: new Set(['unknown_upstream_task']),
  failed: new Set(),
};

/** Writes the outcome of a poll. A task that has ended in the meantime stays as it ended. */
export async function applyReport(deps: Deps, task: Task, report: Report): Promise<void> {
  const doubt = task.doubt?.reason;
  if (doubt !== undefined && SETTLES[report.phase].has(doubt))
    await deps.store.resolve(task.id, { ...RESOLVED_BY_SERVICE, at: deps.clock.now(), reason: doubt });
  const apply = APPLY[report.phase] as Apply<Report['phase']>;
  await apply(deps, task, report);
}

async function writeUnfinished(
  deps: Deps,
  task: Task,
  report: Extract<Report, { phase: 'queued' | 'running' }>,
): Promise<void> {
  const state = move(task.state, report.phase === 'running' ? 'runs' : 'waits');
  const progress = state === 'in_progress' ? Math.max(task.progress, PROGRESS_RUNNING) : task.progress;
  await writeProgress(
    deps,
    task,
    {
      ...toProgress(deps, task),
      state,
      upstreamStatus: report.status,
      progress: report.phase === 'running' ? (report.progress ?? progress) : progress,
    },
    report.status,
  );
  if (task.unrecognised) await deps.store.resolve(task.id, { ...RESOLVED_BY_SERVICE, at: deps.clock.now() });
}

async function writeProgress(deps: Deps, task: Task, to: Progress, status: string): Promise<void> {
  const changed =
    to.state !== task.state ||
    to.unrecognised !== task.unrecognised ||
    to.progress !== task.progress ||
    (to.unrecognised && status !== task.upstreamStatus);
  const note: Note | undefined =
    status === task.upstreamStatus && to.state === task.state
      ? undefined
      : { type: 'reported', detail: { status, state: to.state } };
  const won = await deps.store.progress(task.id, task.state, to, note);
  if (won && to.state !== task.state)
    deps.log.info({ taskId: task.id, from: task.state, to: to.state, channel: task.mapping?.channel }, 'a task moved');
  const { id, accountId } = task;
  if (won && changed) deps.announce({ id, accountId, state: to.state, trace: traceToPassOn(deps, task) });
}

function toProgress(deps: Deps, task: Task): Progress {
  const at = deps.clock.now();
  return {
    state: task.state,
    upstreamStatus: task.upstreamStatus,
    unrecognised: false,
    progress: task.progress,
    pollErrors: 0,
    pollSpans: task.pollSpans,
    at,
    wasDueAt: task.nextPollAt,
    nextPollAt: at + pollInterval(deps.pollPlan, at - task.createdAt, deps.chance()),
  };
}

type Success = Extract<Report, { phase: 'succeeded' }>;

/**
 * Completes a task after media has fetched and kept its result. Without a result the upstream is polled again with
 * backoff, because the next report may have a fresh URL.
 */
export async function completeTask(deps: Deps, task: Task, report: Success): Promise<void> {
  if (task.order.kind === 'context_ir') {
    if (report.prompt === undefined) await doubtResult(deps, task, report, 'a prompt');
    else await endCompleted(deps, task, report, { result: { prompt: report.prompt } });
    return;
  }
  if (report.url === undefined) {
    await doubtResult(deps, task, report, 'a URL');
    return;
  }
  const begunAt = deps.clock.now();
  try {
    const { url, credential, base64At, lastFrameUrl } = report;
    const wanted = { accountId: task.accountId, taskId: task.id, url, credential, base64At, lastFrameUrl };
    const { result, expiresAt } = await inWorkSpan(deps, task, STORE_RESULT, (span) =>
      deps.media.ingest(wanted, { span }),
    );
    await endCompleted(deps, task, report, { result, expiresAt, fetchMs: deps.clock.now() - begunAt });
  } catch (error) {
    if (isProblem(error, 'media_busy')) {
      await pollAsPlanned(deps, task, report.urlDiesAt);
      return;
    }
    const detail = isProblem(error) ? error.message : 'internal error';
    deps.log.warn({ taskId: task.id, err: error }, 'a result could not be stored');
    await postponePoll(deps, task, {
      error: `the result could not be stored: ${detail}`,
      doubt: 'result_unavailable',
      askedMs: isProblem(error) ? error.retryAfterMs : undefined,
    });
  }
}

/**
 * Polls again after a success without a result, and asks a person meanwhile. If the result stays away, the task fails,
 * so that no client waits and no money is held for an end that is neither success nor failure.
 */
async function doubtResult(deps: Deps, task: Task, report: Success, missing: string): Promise<void> {
  const polls = task.doubt?.reason === NO_RESULT ? task.doubt.polls + 1 : 1;
  if (polls < POLLS_WITHOUT_RESULT_MAX) {
    await postponePoll(deps, task, { error: `the upstream reports success without ${missing}`, doubt: NO_RESULT });
    return;
  }
  await endTask(deps, task, {
    state: 'failed',
    at: deps.clock.now(),
    upstreamStatus: report.status,
    failure: { code: NO_RESULT, message: 'the generator ended the task without a result' },
    upstreamCostMicroUsd: checkUpstreamCost(report.costMicroUsd),
    upstreamEndedAt: report.endedAt,
  });
}

async function endCompleted(
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
    upstreamCostMicroUsd: checkUpstreamCost(report.costMicroUsd),
    upstreamEndedAt: report.endedAt,
    ...kept,
  });
}

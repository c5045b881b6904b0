import type { Clock } from '@reelgate/platform/clock';
import { inRequest, inTrace } from '@reelgate/platform/request-context';
import { readErrorType } from '@reelgate/platform/problem';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import type { Span, SpanOptions, Tracing } from '@reelgate/platform/trace/trace';
import { parseTraceparent } from '@reelgate/platform/trace/traceparent';
import type { PollResult } from '../../channels/channel.ts';
import type { Task } from '../../domain/task.ts';

/**
 * Work after this age has traces of its own, because a sampler of whole traces has decided over the first one by then.
 */
const ONE_TRACE_MS = 30 * 60_000;

/** The dependencies of the spans of the work of a task or a job. */
export interface SpanDeps {
  readonly tracing: Tracing;
  readonly clock: Clock;
}

/** A task or a job. */
export interface TracedWork extends WorkTrace {
  readonly id: string;
}

interface WorkTrace {
  readonly createdAt: number;
  readonly trace?: string | undefined;
}

/** The carrier that others continue. Undefined if the task is not recorded, or too old for its first trace. */
export function traceToPassOn(
  { clock }: { readonly clock: Clock },
  { createdAt, trace }: WorkTrace,
): string | undefined {
  return clock.now() - createdAt <= ONE_TRACE_MS ? trace : undefined;
}

/** Begins the span of a step in the life of a task: below the task's own span, or, if the task is old, linked to it. */
export function workSpan(
  { tracing, clock }: SpanDeps,
  { id, createdAt, trace }: TracedWork,
  name: string,
  options: SpanOptions = {},
): Span {
  if (trace === undefined) return NO_SPAN;
  const attributes = { 'reelgate.task.id': id, ...options.attributes };
  if (clock.now() - createdAt <= ONE_TRACE_MS) return tracing.enter(trace).child(name, { ...options, attributes });
  return tracing.root(name, {
    ...options,
    class: 'work',
    attributes: { ...attributes, 'reelgate.link.type': 'continues' },
    links: [trace, ...(options.links ?? [])],
  });
}

/** Runs a step in the life of a task. Its span ends with the step and fails with it. */
export async function inWorkSpan<T>(
  deps: SpanDeps,
  task: TracedWork,
  { name, ...options }: SpanOptions & { readonly name: string },
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (task.trace === undefined) return work(NO_SPAN);
  const span = workSpan(deps, task, name, options);
  try {
    return await work(span);
  } catch (thrown) {
    span.fail(readErrorType(thrown));
    throw thrown;
  } finally {
    span.end();
  }
}

/**
 * Runs deferred work of a create: its log lines and its calls have the id of that request, and its log lines the id of
 * the trace.
 */
export function inTask<T>(
  { requestId = '', trace }: { readonly requestId?: string | undefined; readonly trace?: string | undefined },
  work: () => T,
): T {
  return trace === undefined
    ? inRequest(requestId, work)
    : inRequest(requestId, () => inTrace(parseTraceparent(trace)?.traceId, work));
}

/** The most spans of polls of one task. The last one is kept for the poll that ends the task. */
export const POLL_SPANS_MAX = 128;
/** A longer poll has a span, whatever its outcome. */
const SLOW_MS = 1000;
const ENDS: ReadonlySet<string> = new Set(['succeeded', 'failed']);

interface EndedPoll {
  readonly channel: string;
  readonly polled: PollResult;
  readonly startedAt: number;
}

/**
 * Counts a poll of a traced task, and writes its span if it says more than the poll before it did: if it is the first,
 * is slow, fails, or finds another status or progress. Returns the task with its counts.
 */
export function tracePoll(deps: SpanDeps, task: Task, { channel, polled, startedAt }: EndedPoll): Task {
  if (task.trace === undefined) return task;
  const counted = { ...task, polls: task.polls + 1 };
  const now = deps.clock.now();
  const isLast = polled.found && ENDS.has(polled.report.phase);
  const isTold = isLast || now - startedAt > SLOW_MS || isNews(task, polled);
  if (!isTold || task.pollSpans >= POLL_SPANS_MAX - (isLast ? 0 : 1)) return counted;
  const span = workSpan(deps, task, `poll ${channel}`, {
    kind: 'client',
    at: startedAt,
    attributes: {
      'reelgate.task.channel': channel,
      'reelgate.task.poll': counted.polls,
      'reelgate.task.phase': polled.found ? polled.report.phase : undefined,
      'reelgate.resumed': task.resumed ? true : undefined,
    },
  });
  // The text of an upstream stays out: it can name hosts and ids.
  if (!polled.found) span.fail(polled.gone ? 'unknown_upstream_task' : 'poll_failed');
  span.end(now);
  return { ...counted, pollSpans: task.pollSpans + 1 };
}

function isNews({ polls, resumed, upstreamStatus, progress }: Task, polled: PollResult): boolean {
  if (polls === 0 || resumed || !polled.found) return true;
  const { report } = polled;
  return report.status !== upstreamStatus || (report.phase === 'running' && (report.progress ?? progress) !== progress);
}

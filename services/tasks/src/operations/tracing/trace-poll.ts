import type { PollResult } from '../../channels/channel.ts';
import type { Task } from '../../domain/task.ts';
import { workSpan } from './work-span.ts';
import type { SpanDeps } from './work-span.ts';

/** The most spans of polls of one task. The last one is kept for the poll that ends the task. */
export const POLL_SPANS_MAX = 128;
/** A longer poll has a span, whatever its outcome. */
const SLOW_MS = 1000;
const ENDS: ReadonlySet<string> = new Set(['succeeded', 'failed']);

export interface EndedPoll {
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

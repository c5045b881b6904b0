import { inRequest, inTrace } from '@reelgate/platform/request-context';
import { parseTraceparent } from '@reelgate/platform/trace/traceparent';
import type { Task } from '../domain/task.ts';

/**
 * Runs work for a task that its create has left for later: its log lines and its calls have the id of that request, and
 * its log lines that of the trace.
 */
export function inTask<T>({ requestId = '', trace }: Pick<Task, 'requestId' | 'trace'>, work: () => T): T {
  return trace === undefined
    ? inRequest(requestId, work)
    : inRequest(requestId, () => inTrace(parseTraceparent(trace)?.traceId, work));
}

import type { Report } from '../../domain/report.ts';
import type { Usage } from '../../domain/task.ts';
import { withEnd } from '../report-end.ts';
import { countOf, objectOf, textOf } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';
import type { ListedWork } from '../channel.ts';

const DEFAULT_FAILURE = 'the generator ended the task without a result';

const REPORTS: Readonly<Record<string, (task: Json, status: string) => Report>> = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: (_task, status) => ({ phase: 'running', status }),
  succeeded: (task, status) => ({
    phase: 'succeeded',
    status,
    url: textOf(objectOf(task['content'])['video_url']),
    usage: usageOf(task),
  }),
  failed: failedReport,
  cancelled: failedReport,
  expired: failedReport,
};

export function reportOf(task: Json): Report {
  const status = String(task['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  return known === undefined ? { phase: 'unrecognised', status } : withEnd(known(task, status), task['updated_at']);
}

function failedReport(task: Json, status: string): Report {
  const error = objectOf(task['error']);
  return {
    phase: 'failed',
    status,
    failure: { code: textOf(error['code']) ?? status, message: textOf(error['message']) ?? DEFAULT_FAILURE },
  };
}

/**
 * The tokens that the API counts and the length of the video. The API bills no sum of seconds, so there is no total.
 */
function usageOf(task: Json): Usage | undefined {
  const usage = objectOf(task['usage']);
  const read: Usage = {
    totalTokens: countOf(usage['total_tokens']),
    completionTokens: countOf(usage['completion_tokens']),
    outputSeconds: countOf(task['duration']),
  };
  return Object.values(read).some((value) => value !== undefined) ? read : undefined;
}

export function workOf(item: unknown): ListedWork {
  const task = objectOf(item);
  return {
    upstreamId: textOf(task['id']) ?? '',
    kind: 'generation',
    model: textOf(task['model']) ?? '',
    duration: countOf(task['duration']),
    resolution: textOf(task['resolution']),
    ratio: textOf(task['ratio']),
    createdAt: (countOf(task['created_at']) ?? 0) * 1000,
  };
}

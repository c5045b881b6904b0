import type { Report } from '../../domain/report.ts';
import type { Usage } from '../../domain/task.ts';
import { withEndTime } from '../report-fields.ts';
import { readCount, readObject, readText } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';
import type { ListedWork } from '../channel.ts';

const DEFAULT_FAILURE = 'the generator ended the task without a result';

const REPORTS: Readonly<Record<string, (task: Json, status: string) => Report>> = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: (_task, status) => ({ phase: 'running', status }),
  succeeded: (task, status) => ({
    phase: 'succeeded',
    status,
    url: readText(readObject(task['content'])['video_url']),
    usage: readUsage(task),
  }),
  failed: toFailureReport,
  cancelled: toFailureReport,
  expired: toFailureReport,
};

export function toReport(task: Json): Report {
  const status = String(task['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  return known === undefined ? { phase: 'unrecognised', status } : withEndTime(known(task, status), task['updated_at']);
}

function toFailureReport(task: Json, status: string): Report {
  const error = readObject(task['error']);
  return {
    phase: 'failed',
    status,
    failure: { code: readText(error['code']) ?? status, message: readText(error['message']) ?? DEFAULT_FAILURE },
  };
}

/**
 * The tokens that the API counts and the length of the video. The API bills no sum of seconds, so there is no total.
 */
function readUsage(task: Json): Usage | undefined {
  const usage = readObject(task['usage']);
  const read: Usage = {
    totalTokens: readCount(usage['total_tokens']),
    completionTokens: readCount(usage['completion_tokens']),
    outputSeconds: readCount(task['duration']),
  };
  return Object.values(read).some((value) => value !== undefined) ? read : undefined;
}

export function toListedWork(item: unknown): ListedWork {
  const task = readObject(item);
  return {
    upstreamId: readText(task['id']) ?? '',
    kind: 'generation',
    model: readText(task['model']) ?? '',
    duration: readCount(task['duration']),
    resolution: readText(task['resolution']),
    ratio: readText(task['ratio']),
    createdAt: (readCount(task['created_at']) ?? 0) * 1000,
  };
}

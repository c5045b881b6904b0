import type { Json, Kind, ListedWork, Report } from '@reelgate/adapter-kit';
import {
  readCount,
  readId,
  readObject,
  readReport,
  readSecondsAsMs,
  readText,
  toFailure,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { Reports } from '@reelgate/adapter-kit/kit';
import { readUsage } from '@reelgate/adapter-kit/v2-usage';

const KINDS: Readonly<Record<string, Kind>> = {
  generation: 'generation',
  regeneration: 'regeneration',
  h3_context_ir: 'context_ir',
};

/** The status words of the vendor, of older revisions of its documents, and of this service. */
const REPORTS: Reports = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: toRunningReport,
  in_progress: toRunningReport,
  succeeded: toSuccessReport,
  completed: toSuccessReport,
  failed: (task, status) => toFailureReport(task, status, 'failed'),
  cancelled: (task, status) => toFailureReport(task, status, 'cancelled'),
  expired: (task, status) => toFailureReport(task, status, 'expired'),
};

/** Converts a task object of the vendor into a report. A task is not updated after its end. */
export function toReport(task: Json): Report {
  return withEndTime(readReport(REPORTS, task, String(task['status'])), readSecondsAsMs(task['updated_at']));
}

function toRunningReport(task: Json, status: string): Report {
  const progress = Number(task['progress']);
  return {
    phase: 'running',
    status,
    progress: Number.isInteger(progress) && progress >= 0 && progress < 100 ? progress : undefined,
  };
}

function toSuccessReport(task: Json, status: string): Report {
  const content = readObject(task['content']);
  return {
    phase: 'succeeded',
    status,
    url: readText(content['url']),
    prompt: readText(content['prompt']),
    usage: readUsage(readObject(task['usage'])),
  };
}

function toFailureReport(task: Json, status: string, word: string): Report {
  const error = readObject(task['error']);
  return toFailure(status, word === 'failed' ? (readId(error['code']) ?? word) : word, error['message']);
}

export function toListedWork(item: unknown): ListedWork {
  const task = readObject(item);
  return {
    upstreamId: readId(task['id']) ?? '',
    kind: KINDS[String(task['task_type'])],
    model: readText(task['model']) ?? '',
    duration: readCount(task['duration']),
    resolution: readText(task['resolution']),
    ratio: readText(task['ratio']),
    createdAt: (readCount(task['created_at']) ?? 0) * 1000,
  };
}

import type { Kind } from '../../domain/order.ts';
import type { Report } from '../../domain/report.ts';
import { readCount, readObject, readText } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';
import type { ListedWork } from '../channel.ts';
import { readUsage, withEndTime } from '../report-fields.ts';

const KINDS: Readonly<Record<string, Kind>> = {
  generation: 'generation',
  regeneration: 'regeneration',
  h3_context_ir: 'context_ir',
};
const DEFAULT_FAILURE = 'the generator ended the task without a result';

/** The status words of the vendor, of older revisions of its documents, and of this service. */
const REPORTS: Readonly<Record<string, (task: Json, status: string) => Report>> = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: toRunningReport,
  in_progress: toRunningReport,
  succeeded: toSuccessReport,
  completed: toSuccessReport,
  failed: (task, status) => toFailureReport(task, status, 'failed'),
  cancelled: (task, status) => toFailureReport(task, status, 'cancelled'),
  expired: (task, status) => toFailureReport(task, status, 'expired'),
};

/** Converts a task object of the vendor into a report. */
export function toReport(task: Json): Report {
  const status = String(task['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  // a task is not updated after its end
  return known === undefined ? { phase: 'unrecognised', status } : withEndTime(known(task, status), task['updated_at']);
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
  const code =
    word === 'failed'
      ? (readText(error['code']) ?? (typeof error['code'] === 'number' ? String(error['code']) : word))
      : word;
  return { phase: 'failed', status, failure: { code, message: readText(error['message']) ?? DEFAULT_FAILURE } };
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

/** An id is a text. A number is converted. */
export function readId(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : readText(value);
}

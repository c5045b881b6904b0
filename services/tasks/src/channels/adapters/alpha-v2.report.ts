import type { Kind } from '../../domain/order.ts';
import type { Report } from '../../domain/report.ts';
import { countOf, objectOf, textOf } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';
import type { ListedWork } from '../channel.ts';
import { withEnd } from '../report-end.ts';
import { usageOf } from '../usage-fields.ts';

const KINDS: Readonly<Record<string, Kind>> = {
  generation: 'generation',
  regeneration: 'regeneration',
  h3_context_ir: 'context_ir',
};
const DEFAULT_FAILURE = 'the generator ended the task without a result';

/** The status words of the vendor, of older revisions of its documents, and of this service. */
const REPORTS: Readonly<Record<string, (task: Json, status: string) => Report>> = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: runningReport,
  in_progress: runningReport,
  succeeded: successReport,
  completed: successReport,
  failed: (task, status) => failedReport(task, status, 'failed'),
  cancelled: (task, status) => failedReport(task, status, 'cancelled'),
  expired: (task, status) => failedReport(task, status, 'expired'),
};

/** Converts a task object of the vendor into a report. */
export function reportOf(task: Json): Report {
  const status = String(task['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  // a task is not updated after its end
  return known === undefined ? { phase: 'unrecognised', status } : withEnd(known(task, status), task['updated_at']);
}

function runningReport(task: Json, status: string): Report {
  const progress = Number(task['progress']);
  return {
    phase: 'running',
    status,
    progress: Number.isInteger(progress) && progress >= 0 && progress < 100 ? progress : undefined,
  };
}

function successReport(task: Json, status: string): Report {
  const content = objectOf(task['content']);
  return {
    phase: 'succeeded',
    status,
    url: textOf(content['url']),
    prompt: textOf(content['prompt']),
    usage: usageOf(objectOf(task['usage'])),
  };
}

function failedReport(task: Json, status: string, word: string): Report {
  const error = objectOf(task['error']);
  const code =
    word === 'failed'
      ? (textOf(error['code']) ?? (typeof error['code'] === 'number' ? String(error['code']) : word))
      : word;
  return { phase: 'failed', status, failure: { code, message: textOf(error['message']) ?? DEFAULT_FAILURE } };
}

export function workOf(item: unknown): ListedWork {
  const task = objectOf(item);
  return {
    upstreamId: idOf(task['id']) ?? '',
    kind: KINDS[String(task['task_type'])],
    model: textOf(task['model']) ?? '',
    duration: countOf(task['duration']),
    resolution: textOf(task['resolution']),
    ratio: textOf(task['ratio']),
    createdAt: (countOf(task['created_at']) ?? 0) * 1000,
  };
}

/** An id is a text. A number is converted. */
export function idOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value);
}

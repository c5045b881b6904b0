import type { Report } from '../../domain/report.ts';
import type { Failure } from '../../domain/task.ts';
import { readText } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';

const DEFAULT_FAILURE = 'the generator ended the task without a result';
const MODERATED: Failure = { code: 'content_rejected', message: 'the generator refused the content' };

const REPORTS: Readonly<Record<string, (task: Json, status: string) => Report>> = {
  PENDING: (_task, status) => ({ phase: 'queued', status }),
  THROTTLED: (_task, status) => ({ phase: 'queued', status }),
  RUNNING: (task, status) => ({ phase: 'running', status, progress: toPercent(task['progress']) }),
  SUCCEEDED: (task, status) => ({ phase: 'succeeded', status, url: readFirstUrl(task['output']) }),
  FAILED: (task, status) => ({ phase: 'failed', status, failure: readFailure(task) }),
  CANCELLED: (_task, status) => ({ phase: 'failed', status, failure: { code: 'cancelled', message: DEFAULT_FAILURE } }),
};

/** Converts a task into a report. The credits that it cost are not a usage that this service charges. */
export function toReport(task: Json): Report {
  const status = String(task['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  return known === undefined ? { phase: 'unrecognised', status } : known(task, status);
}

/** A fraction from 0 to 1. */
function toPercent(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < 1 ? Math.floor(value * 100) : undefined;
}

function readFirstUrl(output: unknown): string | undefined {
  return Array.isArray(output) ? readText(output[0]) : undefined;
}

/** The reference asks not to show moderation codes to users, because they can name the wrong input. */
function readFailure(task: Json): Failure {
  const code = readText(task['failureCode']);
  if (code !== undefined && /(^|\.)SAFETY(\.|$)/.test(code)) return MODERATED;
  return { code: code ?? 'failed', message: readText(task['failure']) ?? DEFAULT_FAILURE };
}

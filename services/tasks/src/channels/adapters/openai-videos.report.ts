import type { Report } from '../../domain/report.ts';
import { readUsage, withEndTime } from '../report-fields.ts';
import { readCount, readObject, readText } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';
import type { ListedWork } from '../channel.ts';
import { findFrame } from './openai-videos.size.ts';

const DEFAULT_FAILURE = 'the generator ended the task without a result';
const WEB_ADDRESS = /^https?:\/\//i;

const REPORTS: Readonly<Record<string, (video: Json, status: string) => Report>> = {
  queued: (_video, status) => ({ phase: 'queued', status }),
  in_progress: (video, status) => ({ phase: 'running', status, progress: readPercent(video['progress']) }),
  completed: (video, status) => ({
    phase: 'succeeded',
    status,
    url: readWebUrl(video['video_url']) ?? readWebUrl(readObject(video['metadata'])['url']),
    // OpenAI reports no usage. This service does.
    usage: readUsage(readObject(video['usage'])),
  }),
  failed: (video, status) => ({ phase: 'failed', status, failure: readFailure(readObject(video['error'])) }),
};

/** Converts a video object into a report. */
export function toReport(video: Json): Report {
  const status = String(video['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  return known === undefined
    ? { phase: 'unrecognised', status }
    : withEndTime(known(video, status), video['completed_at']);
}

/** Some gateways write `25` as "25" or "25%". */
function readPercent(value: unknown): number | undefined {
  const percent = typeof value === 'string' && /^\d{1,2}%?$/.test(value) ? Number.parseInt(value, 10) : value;
  return typeof percent === 'number' && Number.isInteger(percent) && percent >= 0 && percent < 100
    ? percent
    : undefined;
}

function readWebUrl(value: unknown): string | undefined {
  return typeof value === 'string' && WEB_ADDRESS.test(value) ? value : undefined;
}

function readFailure(error: Json): { readonly code: string; readonly message: string } {
  return { code: readText(error['code']) ?? 'failed', message: readText(error['message']) ?? DEFAULT_FAILURE };
}

/** A size identifies a frame only if this adapter writes that size for it. */
export function toListedWork(item: unknown): ListedWork {
  const video = readObject(item);
  return {
    upstreamId: readText(video['id']) ?? readText(video['task_id']) ?? '',
    kind: readText(video['remixed_from_video_id']) === undefined ? 'generation' : undefined,
    model: readText(video['model']) ?? '',
    duration: readCount(video['seconds']) ?? readCount(Number(readText(video['seconds']) ?? Number.NaN)),
    ...{ resolution: undefined, ratio: undefined, ...findFrame(readText(video['size']) ?? '') },
    createdAt: (readCount(video['created_at']) ?? 0) * 1000,
  };
}

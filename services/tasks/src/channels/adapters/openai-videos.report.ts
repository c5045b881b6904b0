import type { Report } from '../../domain/report.ts';
import { withEnd } from '../report-end.ts';
import { countOf, objectOf, textOf } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';
import type { ListedWork } from '../channel.ts';
import { usageOf } from '../usage-fields.ts';
import { frameOf } from './openai-videos.size.ts';

const DEFAULT_FAILURE = 'the generator ended the task without a result';
const WEB_ADDRESS = /^https?:\/\//i;

const REPORTS: Readonly<Record<string, (video: Json, status: string) => Report>> = {
  queued: (_video, status) => ({ phase: 'queued', status }),
  in_progress: (video, status) => ({ phase: 'running', status, progress: percentOf(video['progress']) }),
  completed: (video, status) => ({
    phase: 'succeeded',
    status,
    url: addressOf(video['video_url']) ?? addressOf(objectOf(video['metadata'])['url']),
    // OpenAI reports no usage. This service does.
    usage: usageOf(objectOf(video['usage'])),
  }),
  failed: (video, status) => ({ phase: 'failed', status, failure: failureOf(objectOf(video['error'])) }),
};

/** Converts a video object into a report. */
export function reportOf(video: Json): Report {
  const status = String(video['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  return known === undefined ? { phase: 'unrecognised', status } : withEnd(known(video, status), video['completed_at']);
}

/** Some gateways write `25` as "25" or "25%". */
function percentOf(value: unknown): number | undefined {
  const percent = typeof value === 'string' && /^\d{1,2}%?$/.test(value) ? Number.parseInt(value, 10) : value;
  return typeof percent === 'number' && Number.isInteger(percent) && percent >= 0 && percent < 100
    ? percent
    : undefined;
}

function addressOf(value: unknown): string | undefined {
  return typeof value === 'string' && WEB_ADDRESS.test(value) ? value : undefined;
}

function failureOf(error: Json): { readonly code: string; readonly message: string } {
  return { code: textOf(error['code']) ?? 'failed', message: textOf(error['message']) ?? DEFAULT_FAILURE };
}

/** A size identifies a frame only if this adapter writes that size for it. */
export function workOf(item: unknown): ListedWork {
  const video = objectOf(item);
  return {
    upstreamId: textOf(video['id']) ?? textOf(video['task_id']) ?? '',
    kind: textOf(video['remixed_from_video_id']) === undefined ? 'generation' : undefined,
    model: textOf(video['model']) ?? '',
    duration: countOf(video['seconds']) ?? countOf(Number(textOf(video['seconds']) ?? Number.NaN)),
    ...{ resolution: undefined, ratio: undefined, ...frameOf(textOf(video['size']) ?? '') },
    createdAt: (countOf(video['created_at']) ?? 0) * 1000,
  };
}

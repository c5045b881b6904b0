import type { Json, ListedWork, Report } from '@reelgate/adapter-kit';
import {
  readCount,
  readId,
  readList,
  readObject,
  readPercent,
  readReport,
  readSecondsAsMs,
  readText,
  readWebUrl,
  toContentFailure,
  toFailure,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { Reports } from '@reelgate/adapter-kit/kit';
import { toPlainWord, toReportsOfWords } from '@reelgate/adapter-kit/status-words';
import { findFrame } from './openai-videos.size.ts';
import { readUsage } from '@reelgate/adapter-kit/v2-usage';

const REFUSED = /moderated|filtered/i;

/** Servers of this API differ in their words, so the words of the servers behind them are read too. */
const REPORTS: Reports = toReportsOfWords({
  waiting: (_video, status) => ({ phase: 'queued', status }),
  working: (video, status) => ({ phase: 'running', status, progress: readPercent(video['progress']) }),
  finished: (video, status) => ({
    phase: 'succeeded',
    status,
    url: readResultUrl(video),
    // OpenAI reports no usage. This service does.
    usage: readUsage(readObject(video['usage'])),
  }),
  broken: (video, status) => toFailureReport(video, status, 'failed'),
  cancelled: (video, status) => toFailureReport(video, status, 'cancelled'),
  expired: (video, status) => toFailureReport(video, status, 'expired'),
});

/** Converts a video object into a report. */
export function toReport(video: Json): Report {
  const status = String(video['status']);
  return withEndTime(readReport(REPORTS, video, status, toPlainWord(status)), readSecondsAsMs(video['completed_at']));
}

/** Reports whether a status says that the work was cancelled. */
export function isCancelled(video: Json): boolean {
  const report = toReport(video);
  return report.phase === 'failed' && report.failure.code === 'cancelled';
}

/** The video of an answer. Gateways of the new-api family wrap it in `data`. */
export function readVideo(body: unknown): Json {
  const outer = readObject(body);
  const { id, task_id: taskId, status } = readObject(outer['data']);
  const isWrapped = (id ?? taskId) !== undefined && readVideoId(outer) === undefined && outer['object'] === undefined;
  return isWrapped && (status === undefined || typeof status === 'string') ? readObject(outer['data']) : outer;
}

/** The id of a video; older gateways have it in `task_id`. */
export function readVideoId({ id, task_id: taskId }: Json): string | undefined {
  return readId(id) ?? readId(taskId);
}

/** The address of the first result. `file_path` is a path on the server, so it is not read. */
function readResultUrl(video: Json): string | undefined {
  const { video_url: videoUrl, metadata, url, urls, result_url: resultUrl } = video;
  const candidates = [videoUrl, readObject(metadata)['url'], url, readList(urls)[0], resultUrl];
  return candidates.map(readWebUrl).find((one) => one !== undefined);
}

/** A refusal of content has a word of its own at some servers. */
function toFailureReport(video: Json, status: string, word: string): Report {
  const { code, message } = readObject(video['error']);
  if (REFUSED.test(status)) return toContentFailure(status);
  return toFailure(status, readId(code) ?? word, message);
}

/** A size identifies a frame only if this adapter writes that size for it. */
export function toListedWork(item: unknown): ListedWork {
  const video = readObject(item);
  return {
    upstreamId: readVideoId(video) ?? '',
    kind: readText(video['remixed_from_video_id']) === undefined ? 'generation' : undefined,
    model: readText(video['model']) ?? '',
    duration: readCount(video['seconds']) ?? readCount(Number(readText(video['seconds']) ?? Number.NaN)),
    ...{ resolution: undefined, ratio: undefined, ...findFrame(readText(video['size']) ?? '') },
    createdAt: (readCount(video['created_at']) ?? 0) * 1000,
  };
}

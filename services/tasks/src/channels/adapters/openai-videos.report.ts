import type { Failure, Json, ListedWork, Report } from '@reelgate/adapter-kit';
import {
  DEFAULT_FAILURE,
  readCount,
  readId,
  readList,
  readObject,
  readPercent,
  readReport,
  readSecondsAsMs,
  readText,
  readWebUrl,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { Reports } from '@reelgate/adapter-kit/kit';
import { findFrame } from './openai-videos.size.ts';
import { readUsage } from '@reelgate/adapter-kit/v2-usage';

const REPORTS: Reports = {
  queued: (_video, status) => ({ phase: 'queued', status }),
  in_progress: (video, status) => ({ phase: 'running', status, progress: readPercent(video['progress']) }),
  completed: (video, status) => ({
    phase: 'succeeded',
    status,
    url: readResultUrl(video),
    // OpenAI reports no usage. This service does.
    usage: readUsage(readObject(video['usage'])),
  }),
  failed: (video, status) => ({ phase: 'failed', status, failure: readFailure(readObject(video['error'])) }),
};

/** Converts a video object into a report. */
export function toReport(video: Json): Report {
  return withEndTime(readReport(REPORTS, video, String(video['status'])), readSecondsAsMs(video['completed_at']));
}

/** The address of the first result. `file_path` is a path on the server, so it is not read. */
function readResultUrl(video: Json): string | undefined {
  const { video_url: videoUrl, metadata, url, urls } = video;
  return (
    readWebUrl(videoUrl) ?? readWebUrl(readObject(metadata)['url']) ?? readWebUrl(url) ?? readWebUrl(readList(urls)[0])
  );
}

function readFailure(error: Json): Failure {
  return { code: readId(error['code']) ?? 'failed', message: readText(error['message']) ?? DEFAULT_FAILURE };
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

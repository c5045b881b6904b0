import type { Json, ListedWork, Report, Usage } from '@reelgate/adapter-kit';
import {
  readCount,
  readId,
  readObject,
  readReport,
  readSecondsAsMs,
  readText,
  toFailure,
  toUsage,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { Reports } from '@reelgate/adapter-kit/kit';

const REPORTS: Reports = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: (_task, status) => ({ phase: 'running', status }),
  // The words of gateways that keep the form of this API, as new-api reads them (relay/channel/task/doubao).
  pending: (_task, status) => ({ phase: 'queued', status }),
  processing: (_task, status) => ({ phase: 'running', status }),
  succeeded: (task, status) => ({
    phase: 'succeeded',
    status,
    url: readText(readObject(task['content'])['video_url']),
    lastFrameUrl: readText(readObject(task['content'])['last_frame_url']),
    usage: readUsage(task),
  }),
  failed: toFailureReport,
  cancelled: toFailureReport,
  expired: toFailureReport,
};

export function toReport(task: Json): Report {
  return withEndTime(readReport(REPORTS, task, String(task['status'])), readSecondsAsMs(task['updated_at']));
}

function toFailureReport(task: Json, status: string): Report {
  const error = readObject(task['error']);
  return toFailure(status, readText(error['code']), error['message']);
}

/**
 * The tokens that the API counts and the length of the video. The API bills no sum of seconds, so there is no total.
 */
function readUsage(task: Json): Usage | undefined {
  const usage = readObject(task['usage']);
  return toUsage({
    totalTokens: readCount(usage['total_tokens']),
    completionTokens: readCount(usage['completion_tokens']),
    outputSeconds: readCount(task['duration']),
  });
}

export function toListedWork(item: unknown): ListedWork {
  const task = readObject(item);
  return {
    upstreamId: readId(task['id']) ?? '',
    kind: 'generation',
    model: readText(task['model']) ?? '',
    duration: readCount(task['duration']),
    resolution: readText(task['resolution']),
    ratio: readText(task['ratio']),
    createdAt: (readCount(task['created_at']) ?? 0) * 1000,
  };
}

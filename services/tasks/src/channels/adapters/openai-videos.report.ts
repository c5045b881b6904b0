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

interface Frame {
  readonly ratio?: string | undefined;
  readonly resolution?: string | undefined;
}

/** Resolutions named by their shorter side, such as 768P, and by their longer side. */
const SHORT_SIDE = /^(\d{3,4})p$/i;

const LONG_SIDES: Readonly<Record<string, number>> = { '2K': 2560, '4K': 3840 };

/** Generators round a side down to a multiple of this number: 768P at 16:9 is 1344x768. */
const GRID = 32;

/** The ratio for `adaptive`, which a size cannot express. */
const FRAME_OF_ADAPTIVE = '16:9';

const KNOWN_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21', '3:2', '2:3'];
const SIZE = /^(\d{2,5})x(\d{2,5})$/;
const RATIO = /^[1-9]\d{0,2}:[1-9]\d{0,2}$/;

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

/** Width x height of a frame; undefined if the resolution does not name a number of pixels. */
export function formatSize({ ratio = FRAME_OF_ADAPTIVE, resolution = '' }: Frame): string | undefined {
  const [across = 0, down = 0] = (RATIO.test(ratio) ? ratio : FRAME_OF_ADAPTIVE).split(':').map(Number);
  const sides = computeSides(resolution, Math.max(across, down), Math.min(across, down));
  if (sides === undefined) return undefined;
  const [long, short] = sides;
  return across < down ? `${short}x${long}` : `${long}x${short}`;
}

function computeSides(resolution: string, wide: number, narrow: number): readonly [number, number] | undefined {
  const short = SHORT_SIDE.exec(resolution)?.[1];
  if (short !== undefined) return [scaleToGrid(Number(short), wide, narrow), Number(short)];
  const long = LONG_SIDES[resolution.toUpperCase()];
  return long === undefined ? undefined : [long, scaleToGrid(long, narrow, wide)];
}

function scaleToGrid(side: number, by: number, of: number): number {
  return (side * by) % of === 0 ? (side * by) / of : Math.floor((side * by) / of / GRID) * GRID;
}

/** Returns the frame for which `formatSize` returns this size, or an empty frame if there is no such frame. */
export function findFrame(size: string): Frame {
  const [, width = 0, height = 0] = (SIZE.exec(size) ?? []).map(Number);
  const named = Object.keys(LONG_SIDES).find((word) => LONG_SIDES[word] === Math.max(width, height));
  for (const resolution of [named, `${Math.min(width, height)}P`]) {
    const ratio =
      resolution === undefined
        ? undefined
        : KNOWN_RATIOS.find((one) => formatSize({ ratio: one, resolution }) === size);
    if (ratio !== undefined) return { ratio, resolution };
  }
  return {};
}

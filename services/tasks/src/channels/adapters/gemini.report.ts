import type { Json, Report, Usage } from '@reelgate/adapter-kit';
import {
  classifyError,
  findError,
  hasText,
  NO_RESULT,
  readCount,
  readId,
  readIsoTime,
  readList,
  readObject,
  readReport,
  readText,
  readWebUrl,
  toContentFailure,
  toFailure,
  toUsage,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, Reports } from '@reelgate/adapter-kit/kit';
import { readContentRefusal } from '@reelgate/platform/content-refusal';

const toFailureReport = (work: Json, status: string): Report =>
  toErrorFailure(status, work['error'] ?? readList(work['errors'])[0]);

const REPORTS: Reports = {
  queued: (_work, status) => ({ phase: 'queued', status }),
  in_progress: (_work, status) => ({ phase: 'running', status }),
  completed: toSuccessReport,
  failed: toFailureReport,
  cancelled: toFailureReport,
  incomplete: toFailureReport,
  budget_exceeded: toFailureReport,
  requires_action: toFailureReport,
  requires_continuation: toFailureReport,
};

const PROHIBITED = 'PROHIBITED_CONTENT';
const WRONG_ARGUMENT = 400;

/**
 * The codes of the Interactions API, and the status words and reasons of Google's other errors. A missing precondition
 * is a missing payment or country. Nothing says that an error from 500 on comes before acceptance.
 */
export const GEMINI_ERRORS: ErrorTable = {
  codes: {
    API_KEY_INVALID: 'credential',
    FAILED_PRECONDITION: 'credential',
    failed_precondition: 'credential',
  },
  patterns: [
    [/^(IMAGE_)?(SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII)$/i, 'content'],
    [/\bblocked\b.*\b(safety|polic(y|ies))\b/i, 'content', 'message'],
  ],
  statuses: { 416: 'order', 501: 'unknown', 503: 'unknown' },
};

/** Converts an interaction into a report. `path` is the path of the poll. */
export function toInteractionReport(work: Json, path: string): Report {
  const report = withEndTime(readReport(REPORTS, work, String(work['status'])), readIsoTime(work['updated']));
  const isInside = report.phase === 'succeeded' && report.base64At !== undefined;
  return isInside ? { ...report, url: path } : report;
}

interface Content {
  readonly content: Json;
  /** The JSON pointer of the content in its interaction. */
  readonly pointer: string;
}

function listContents(work: Json): readonly Content[] {
  return readList(work['steps'])
    .map(readObject)
    .flatMap(({ type, content: contents }, step) =>
      type === 'model_output'
        ? readList(contents).map((content, index) => ({
            content: readObject(content),
            pointer: `/steps/${step}/content/${index}`,
          }))
        : [],
    );
}

/** A refusal of the content is completed work that says something and has no tokens of a video. */
function toSuccessReport(work: Json, status: string): Report {
  const contents = listContents(work);
  const isText = contents.length > 0 && contents.every(({ content }) => content['type'] === 'text');
  if (isText && !hasVideoTokens(work)) return toContentFailure(status, contents[0]?.content['text']);
  if (contents.length === 0 && isFiltered(work)) return toContentFailure(status, readFilterReason(work));
  return {
    phase: 'succeeded',
    status,
    ...findVideo(contents),
    needsKey: true,
    usage: readUsage(readObject(work['usage'])),
  };
}

/** The first address of a video, as ordered. Without one, the bytes of the first video in the interaction itself. */
function findVideo(contents: readonly Content[]): { readonly url?: string; readonly base64At?: string } {
  const videos = contents.filter(({ content }) => content['type'] === 'video');
  const url = videos.map(({ content }) => readWebUrl(content['uri'])).find((uri) => uri !== undefined);
  if (url !== undefined) return { url };
  const inside = videos.find(({ content }) => hasText(content['data']));
  return inside === undefined ? {} : { base64At: `${inside.pointer}/data` };
}

function hasVideoTokens(work: Json): boolean {
  return readList(readObject(work['usage'])['output_tokens_by_modality'])
    .map(readObject)
    .some(({ modality, tokens }) => modality === 'video' && (readCount(tokens) ?? 0) > 0);
}

function readUsage(usage: Json): Usage | undefined {
  return toUsage({
    totalTokens: readCount(usage['total_tokens']),
    promptTokens: readCount(usage['total_input_tokens']),
    completionTokens: readCount(usage['total_output_tokens']),
  });
}

const DONE = 'done';

/**
 * Converts an operation into a report. It has no status word, and `done` does not change: without a video it has
 * failed. `path` is the path of the poll.
 */
export function toOperationReport({ done, error, response }: Json, path: string): Report {
  if (done !== true) return { phase: 'running', status: 'not done' };
  if (error !== undefined && error !== null) return toErrorFailure(DONE, error);
  const parts = listParts(response);
  const videos = parts.flatMap(listVideos);
  if (videos.length > 0) return { phase: 'succeeded', status: DONE, ...findMade(videos, path), needsKey: true };
  const filtered = parts.find(({ part }) => isFiltered(part));
  return filtered === undefined
    ? toFailure(DONE, NO_RESULT, findError(response)?.message)
    : toContentFailure(DONE, readFilterReason(filtered.part));
}

interface Part {
  readonly part: Json;
  /** The JSON pointer of the part in its operation. */
  readonly pointer: string;
}

/** The Gemini API puts the result into a part of the response; Vertex does not. */
function listParts(response: unknown): readonly Part[] {
  const outer = readObject(response);
  return [
    { part: readObject(outer['generateVideoResponse']), pointer: '/response/generateVideoResponse' },
    { part: outer, pointer: '/response' },
  ];
}

/** The videos of a part: samples that hold a video, or videos themselves. */
function listVideos({ part, pointer }: Part): readonly Part[] {
  const listOf = (name: string): readonly Part[] =>
    readList(part[name]).map((item, index) => ({ part: readObject(item), pointer: `${pointer}/${name}/${index}` }));
  const samples = [...listOf('generatedSamples'), ...listOf('generatedVideos')].map((sample) => ({
    part: readObject(sample.part['video']),
    pointer: `${sample.pointer}/video`,
  }));
  return [...samples, ...listOf('videos')].filter((video) => Object.keys(video.part).length > 0);
}

const BYTES = ['bytesBase64Encoded', 'encodedVideo', 'videoBytes'];

/** The first address of a video; without one, the bytes of the first video in the operation itself. */
function findMade(videos: readonly Part[], path: string): { readonly url?: string; readonly base64At?: string } {
  const [url] = videos.flatMap(({ part: { uri, gcsUri, url: at } }) =>
    [uri, gcsUri, at].flatMap((one) => readWebUrl(one) ?? []),
  );
  if (url !== undefined) return { url };
  const [base64At] = videos.flatMap(({ part, pointer }) =>
    BYTES.flatMap((name) => (hasText(part[name]) ? [`${pointer}/${name}`] : [])),
  );
  return base64At === undefined ? {} : { url: path, base64At };
}

/** Reports whether a filter took all videos: by their count, which can be a text, by its reasons, or by the prompt. */
function isFiltered(part: Json): boolean {
  const count = Number(readMember(part, 'raiMediaFilteredCount', 'rai_media_filtered_count') ?? 0);
  return count > 0 || readFilterReason(part) !== undefined;
}

/** The reason of a filter, in the words of the upstream. */
function readFilterReason(part: Json): string | undefined {
  const reasons = readMember(part, 'raiMediaFilteredReasons', 'rai_media_filtered_reasons');
  const { blockReason, blockReasonMessage } = readObject(readMember(part, 'promptFeedback', 'prompt_feedback'));
  const text = readMember(part, 'raiTextFilteredReason', 'rai_text_filtered_reason');
  const candidates = [
    ...readList(reasons),
    reasons,
    blockReasonMessage,
    blockReason,
    readObject(text)['category'],
    text,
  ];
  return candidates.map(readText).find((one) => one !== undefined);
}

/** A member, as the API and as some gateways spell it. */
function readMember(part: Json, name: string, otherName: string): unknown {
  return part[name] ?? part[otherName];
}

/** The error of a body. The front end of Google puts it into a list. */
export function readError(body: unknown): ApiError | undefined {
  return toApiError(readObject(readList(body)[0] ?? body)['error']);
}

/** The reason in the details says more than the status word, and that more than a code that may be a number. */
function toApiError(value: unknown): ApiError | undefined {
  const error = readObject(value);
  const message = readText(error['message']);
  if (message === undefined) return undefined;
  const reason = readList(error['details']).map((detail) => readText(readObject(detail)['reason']))[0];
  return { code: reason ?? readText(error['status']) ?? readId(error['code']), message };
}

/** The refusal of a prompt in an answer that is no error. */
export function readBlock(body: unknown): ApiError | undefined {
  const { blockReason, blockReasonMessage } = readObject(readObject(body)['promptFeedback']);
  const reason = readText(blockReason);
  return reason === undefined
    ? undefined
    : { code: PROHIBITED, message: readText(blockReasonMessage) ?? `the prompt was blocked: ${reason}` };
}

/** The failure that the error of ended work reports. The sentences of a filter come with the code of a wrong argument. */
function toErrorFailure(status: string, value: unknown): Report {
  const error = toApiError(value);
  const isOfContent =
    error !== undefined &&
    (classifyError(GEMINI_ERRORS, 200, error) === 'content' ||
      readContentRefusal(WRONG_ARGUMENT, { error }) !== undefined);
  if (isOfContent) return toContentFailure(status, error.message);
  return toFailure(status, error?.code ?? readId(readObject(value)['code']), error?.message);
}

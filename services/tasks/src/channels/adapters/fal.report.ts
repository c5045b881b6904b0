import type { Json, PollResult, UpstreamAnswer } from '@reelgate/adapter-kit';
import {
  findError,
  isSuccess,
  readList,
  readObject,
  readReport,
  readText,
  toContentFailure,
  toFailure,
  toNothingFound,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, Reports } from '@reelgate/adapter-kit/kit';

export const ERROR_TYPE_HEADER = 'x-fal-error-type';
const COMPLETED = 'COMPLETED';
const UNFINISHED = 'Request is still in progress';
/** The statuses of a result route that repeat a failure of the model or of the machine that ran it. */
const ENDS = [400, 422];

/** The words for refused content. The second is known from one third party alone. */
const CONTENT = ['content_policy_violation', 'no_media_generated'];

/** The queue checks no input, so a refusal is about the key, the model or the load. A 5xx may come after acceptance. */
export const FAL_ERRORS: ErrorTable = {
  codes: Object.fromEntries(CONTENT.map((word) => [word, 'content'] as const)),
  statuses: { 501: 'unknown', 503: 'unknown' },
};

const REPORTS: Reports = {
  IN_QUEUE: (_work, status) => ({ phase: 'queued', status }),
  IN_PROGRESS: (_work, status) => ({ phase: 'running', status }),
};

/** An error is a list of a model, `{detail: [{type, msg}]}`, or a text of either, next to its type. */
export function readError({ body, headers }: UpstreamAnswer): ApiError | undefined {
  const { detail, error, error_type: errorType } = readObject(body);
  const first = readObject(readList(detail)[0]);
  const { message: platformMessage, type: platformType } = readObject(error);
  const named = readText(detail) ?? readText(first['msg']) ?? readText(platformMessage) ?? readText(error);
  const message = named ?? findError(readObject(body))?.message;
  const code =
    readText(first['type']) ?? readText(errorType) ?? readText(platformType) ?? readText(headers[ERROR_TYPE_HEADER]);
  return message === undefined && code === undefined ? undefined : { code, message: message ?? code ?? '' };
}

/** Reports whether the status of work says that it ended, well or not. Only its result shows which. */
export function isCompleted({ status, body }: UpstreamAnswer): boolean {
  return isSuccess(status) && readObject(body)['status'] === COMPLETED;
}

export function toStatusResult(answer: UpstreamAnswer): PollResult {
  const work = readObject(answer.body);
  return isSuccess(answer.status) && typeof work['status'] === 'string'
    ? { found: true, report: readReport(REPORTS, work, work['status']) }
    : toNothingFound(answer, readError(answer));
}

/**
 * Reads the result of completed work. A failure repeats the status and the body of the model. Any other answer decides
 * nothing: a result that is gone was there, and a page of a proxy is not from the model.
 */
export function toResult(statusAnswer: UpstreamAnswer, answer: UpstreamAnswer): PollResult {
  if (answer.status === 200) {
    const { video } = readObject(answer.body);
    const url = readText(readObject(video)['url']);
    return { found: true, report: { phase: 'succeeded', status: COMPLETED, url } };
  }
  const error = readError(answer);
  if (error?.message === UNFINISHED) return { found: true, report: { phase: 'running', status: 'IN_PROGRESS' } };
  const failure =
    (ENDS.includes(answer.status) || answer.status >= 500 ? error : undefined) ??
    readFailure(readObject(statusAnswer.body));
  if (failure === undefined) return toNothingFound(answer, error, false);
  const { code = 'failed', message } = failure;
  return {
    found: true,
    report: CONTENT.includes(code) ? toContentFailure(COMPLETED) : toFailure(COMPLETED, code, message),
  };
}

/** Returns the failure that the status of completed work names, or undefined if it names no failure. */
function readFailure({ error, error_type: errorType }: Json): ApiError | undefined {
  const code = readText(errorType);
  const message = readText(error);
  return code === undefined && message === undefined ? undefined : { code, message: message ?? '' };
}

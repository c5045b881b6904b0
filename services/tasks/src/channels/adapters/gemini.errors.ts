import type { Report } from '@reelgate/adapter-kit';
import { readContentRefusal } from '@reelgate/platform/content-refusal';
import {
  classifyError,
  readId,
  readList,
  readObject,
  readText,
  toContentFailure,
  toFailure,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable } from '@reelgate/adapter-kit/kit';

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
export function toErrorFailure(status: string, value: unknown): Report {
  const error = toApiError(value);
  const isOfContent =
    error !== undefined &&
    (classifyError(GEMINI_ERRORS, 200, error) === 'content' ||
      readContentRefusal(WRONG_ARGUMENT, { error }) !== undefined);
  if (isOfContent) return toContentFailure(status, error.message);
  return toFailure(status, error?.code ?? readId(readObject(value)['code']), error?.message);
}

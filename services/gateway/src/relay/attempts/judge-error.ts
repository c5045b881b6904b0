import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import { readContentRefusal, readSizeRefusal } from '@reelgate/platform/content-refusal';
import type { ContentRefusal } from '@reelgate/platform/content-refusal';

/**
 * The kind of an error:
 * - `content` if the upstream refuses the content of the request
 * - `redirect` if it points elsewhere, which is no evidence about its health
 * - `credential` if it refuses the gateway's key, its rights or its balance
 * - `absent` if it lacks the requested object, or is at a limit
 * - `fault` if it failed
 * - `page` if a proxy in between has answered
 * - `request` for any other refusal, including a refusal of the size of a request
 */
type ErrorClass = 'content' | 'redirect' | 'credential' | 'absent' | 'fault' | 'page' | 'request';

/** The consequences of an error. */
export interface ErrorVerdict {
  readonly class: ErrorClass;
  /** Another channel may succeed. */
  readonly triesNext: boolean;
  /** A client may see it if no other channel succeeds. */
  readonly isShown: boolean;
  /** It counts as a fault of the channel. Other errors are no evidence about its health. */
  readonly isFault: boolean;
  /** Of the class `content`, and of a refusal of the size of a request. */
  readonly refusal?: ContentRefusal;
}

const VERDICTS: Readonly<Record<ErrorClass, ErrorVerdict>> = {
  content: { class: 'content', triesNext: false, isShown: true, isFault: false },
  redirect: { class: 'redirect', triesNext: true, isShown: true, isFault: false },
  credential: { class: 'credential', triesNext: true, isShown: false, isFault: true },
  absent: { class: 'absent', triesNext: true, isShown: true, isFault: false },
  fault: { class: 'fault', triesNext: true, isShown: true, isFault: true },
  page: { class: 'page', triesNext: true, isShown: false, isFault: true },
  request: { class: 'request', triesNext: false, isShown: true, isFault: false },
};
const BY_STATUS: Readonly<Record<number, ErrorClass>> = {
  401: 'credential',
  402: 'credential',
  403: 'credential',
  404: 'absent',
  408: 'absent',
  429: 'absent',
  501: 'absent',
};

/** Reports whether the upstream works and refuses the content of the call. */
export function refusesCall(verdict: ErrorVerdict): boolean {
  return verdict.class === 'content' || verdict.class === 'request';
}

/** Judges an answer without a success status, or a page that is not expected. */
export function judgeError(status: number, body: Buffer): ErrorVerdict {
  if (status < 400) return judgeStatus(status);
  const parsed = parseBody(body);
  const refusal = readContentRefusal(status, parsed);
  if (refusal !== undefined) return { ...VERDICTS.content, refusal };
  const message = readSizeRefusal(status, parsed);
  if (message !== undefined) return { ...VERDICTS.request, refusal: { message, reasons: [] } };
  return judgeStatus(status);
}

/** Judges an error of which only the status is known. */
export function judgeStatus(status: number): ErrorVerdict {
  return VERDICTS[BY_STATUS[status] ?? classifyStatus(status)];
}

function classifyStatus(status: number): ErrorClass {
  if (status < 300) return 'page';
  if (status < 400) return 'redirect';
  return status < 500 ? 'request' : 'fault';
}

function parseBody(body: Buffer): unknown {
  try {
    return parseAnsweredJson(body);
  } catch {
    return undefined;
  }
}

import { readObject, readText } from '../json-fields.ts';

export interface ApiError {
  readonly code: string;
  readonly type: string;
  readonly message: string;
}

type FaultClass = 'channel' | 'throttle' | 'content' | 'order';

/** The codes of OpenAI, of this service, and of the gateways of the new-api family. */
const CLASS_OF_CODE: Readonly<Record<string, FaultClass>> = {
  moderation_blocked: 'content',
  content_policy_violation: 'content',
  content_filter: 'content',
  content_rejected: 'content',
  sensitive_words_detected: 'content',
  insufficient_quota: 'channel',
  billing_hard_limit_reached: 'channel',
  insufficient_user_quota: 'channel',
  model_price_error: 'channel',
  model_not_found: 'channel',
  invalid_api_key: 'channel',
  token_disabled: 'channel',
  no_channel_available: 'channel',
  api_not_implemented: 'channel',
  sentinel_block: 'channel',
  rate_limit_exceeded: 'throttle',
  too_many_tasks: 'throttle',
};
const CLASS_OF_TYPE: Readonly<Record<string, FaultClass>> = {
  insufficient_quota: 'channel',
  authentication_error: 'channel',
  permission_error: 'channel',
  rate_limit_error: 'throttle',
};
const CLASS_OF_STATUS: Readonly<Record<number, FaultClass>> = {
  400: 'order',
  413: 'order',
  415: 'order',
  422: 'order',
  429: 'throttle',
};

/** The error of a body: in the envelope, or in the flat form that some gateways use for their own errors. */
export function readError(body: unknown): ApiError | undefined {
  const outer = readObject(body);
  const inner = outer['error'];
  const error = typeof inner === 'string' ? { message: inner } : inner === undefined ? outer : readObject(inner);
  const message = readText(readObject(error)['message']);
  return message === undefined
    ? undefined
    : { code: readText(readObject(error)['code']) ?? '', type: readText(readObject(error)['type']) ?? '', message };
}

/**
 * Decides whose fault a refusal is, by code, type and status, in this order. An unknown error is the channel's fault.
 */
export function classifyRefusal(status: number, error: ApiError | undefined): FaultClass {
  return (
    findClass(CLASS_OF_CODE, error?.code) ??
    findClass(CLASS_OF_TYPE, error?.type) ??
    CLASS_OF_STATUS[status] ??
    'channel'
  );
}

function findClass(classes: Readonly<Record<string, FaultClass>>, word = ''): FaultClass | undefined {
  return Object.hasOwn(classes, word) ? classes[word] : undefined;
}

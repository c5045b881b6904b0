import type { ApiError, ErrorTable } from '@reelgate/adapter-kit/kit';
import { readId, readObject, readText } from '@reelgate/adapter-kit/kit';

/**
 * The codes of OpenAI, of this service, of the gateways of the new-api family and of servers of open weights. An error
 * type stands for a missing code. A gateway that fails with 500 may have passed the order on.
 */
export const OPENAI_VIDEOS_ERRORS: ErrorTable = {
  codes: {
    moderation_blocked: 'content',
    content_policy_violation: 'content',
    content_filter: 'content',
    content_rejected: 'content',
    sensitive_words_detected: 'content',
    insufficient_quota: 'credential',
    billing_hard_limit_reached: 'credential',
    insufficient_user_quota: 'credential',
    invalid_api_key: 'credential',
    token_disabled: 'credential',
    authentication_error: 'credential',
    permission_error: 'credential',
    model_price_error: 'channel',
    model_not_found: 'channel',
    no_channel_available: 'channel',
    api_not_implemented: 'channel',
    sentinel_block: 'channel',
    rate_limit_exceeded: 'throttle',
    rate_limit_error: 'throttle',
    too_many_tasks: 'throttle',
  },
  // A server of one model refuses every other with 400 and no code, which is a fault of the configuration.
  patterns: [[/^Model mismatch: /, 'channel', 'message']],
  inSuccess: 'channel',
};

/**
 * The error of a body: in the envelope, in the flat form that some gateways use for their own errors, or in the
 * `detail` of servers built with FastAPI.
 */
export function readError(body: unknown): ApiError | undefined {
  const outer = readObject(body);
  const inner = outer['error'];
  const error = typeof inner === 'string' ? { message: inner } : inner === undefined ? outer : readObject(inner);
  const message = readText(readObject(error)['message']) ?? readDetail(outer['detail']);
  if (message === undefined) return undefined;
  return { code: readKnownCode(readId(error['code'])) ?? readText(error['type']), message };
}

/** A code that the table does not know says less than a type that it knows. */
function readKnownCode(code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(OPENAI_VIDEOS_ERRORS.codes ?? {}, code) ? code : undefined;
}

/** The detail of FastAPI: a text, or a list of faults of fields. */
function readDetail(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return readText(detail);
  const faults = detail.map((one: unknown) => {
    const { loc, msg } = readObject(one);
    return [Array.isArray(loc) ? loc.join('.') : undefined, readText(msg)]
      .filter((part) => part !== undefined)
      .join(': ');
  });
  return readText(faults.filter((fault) => fault !== '').join('; '));
}

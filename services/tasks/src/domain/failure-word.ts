/**
 * The codes that log lines and spans may name: our own, and common ones of upstreams. An upstream can answer with any
 * text, such as an id, a key or a prompt.
 */
const WORDS: ReadonlySet<string> = new Set([
  // our own
  'cancelled',
  'caller_left',
  'content_rejected',
  'expired',
  'failed',
  'gateway_busy',
  'insufficient_quota',
  'internal_error',
  'interrupted',
  'invalid_media',
  'invalid_request',
  'missing_model',
  'model_not_found',
  'model_price_error',
  'no_channel_available',
  'operator',
  'outcome_unknown',
  'queue_full',
  'rate_limit_exceeded',
  'request_failed',
  'result_too_large',
  'service_unavailable',
  'token_disabled',
  'upstream_failed',
  'upstream_refused',
  'upstream_timeout',
  // of upstreams
  'authentication_error',
  'billing_hard_limit_reached',
  'content_filter',
  'content_policy_violation',
  'context_length_exceeded',
  'invalid_api_key',
  'invalid_request_error',
  'moderation_blocked',
  'not_found',
  'overloaded',
  'overloaded_error',
  'permission_denied',
  'server_error',
  'timeout',
  'video_generation_failed',
  // of the vendor of Alpha: unknown, time-out, rate, authentication, balance, internal, content, parameters
  '1000',
  '1001',
  '1002',
  '1004',
  '1008',
  '1013',
  '1026',
  '1027',
  '2013',
]);
const OTHER = 'upstream_other';

/** The word for the code of a failure in log lines and spans; undefined: there was no failure. */
export function nameFailure(code: string | undefined): string | undefined {
  return code === undefined || WORDS.has(code) ? code : OTHER;
}

/**
 * The cause of the refusal of a create or of the failure of a task: the client's request, an upstream, or this installation
 * with its operators.
 */
export type Cause = 'client' | 'upstream' | 'us';

/** Codes of this service and of upstreams that blame the order: its content, its media or its parameters. */
const OF_ORDER: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'invalid_media',
  'invalid_request',
  'invalid_request_error',
  // of the vendor of Alpha: content of the input, content of the result, parameters
  '1026',
  '1027',
  '1042',
  '2013',
]);
/** Parts of codes that mean a moderation, or a parameter of the order. */
const ORDER_WORDS =
  /sensitive|moderat|risk_?detect|copyright|(^|\.)safety(\.|$)|content_(filter|policy|rejected)|^(invalid|missing)_?parameter|^asset\.invalid/i;

/** Derives the cause of a failure of a task from the code of its upstream. An unknown code blames the upstream. */
export function classifyFailure(code = ''): Cause {
  return OF_ORDER.has(code) || ORDER_WORDS.test(code) ? 'client' : 'upstream';
}

/** Codes of this service that no upstream caused. */
const OF_SERVICE: ReadonlySet<string> = new Set([
  'gateway_busy',
  'internal_error',
  'interrupted',
  'never_arrived',
  'no_channel_available',
  'operator',
  'queue_full',
  'queue_timeout',
  'service_unavailable',
  'would_wait_too_long',
]);

/** Returns the cause of a failure for the owner of a task, or undefined for a cancelled task, which has no fault. */
export function findFailureCause(code: string): Cause | undefined {
  if (code === 'cancelled') return undefined;
  return OF_SERVICE.has(code) ? 'us' : classifyFailure(code);
}

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
  'never_arrived',
  'no_channel_available',
  'operator',
  'outcome_unknown',
  'queue_full',
  'queue_timeout',
  'rate_limit_exceeded',
  'request_failed',
  'result_too_large',
  'service_unavailable',
  'token_disabled',
  'upstream_failed',
  'upstream_refused',
  'upstream_timeout',
  'would_wait_too_long',
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

/** The word for the code of a failure in log lines and spans, undefined if there was no failure. */
export function nameFailure(code: string | undefined): string | undefined {
  return code === undefined || WORDS.has(code) ? code : OTHER;
}

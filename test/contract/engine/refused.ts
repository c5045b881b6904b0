import { containing } from './matchers.ts';
import type { Described } from './matchers.ts';
import type { Expectation } from './row.ts';

/** Each refusal with its status, its type in the /v1 envelope, and its type and number in the /v2 envelope. */
const REFUSALS = {
  invalid_request: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_json: [400, 'invalid_request_error', 'bad_request_error', 2013],
  missing_model: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_content: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_duration: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_resolution: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_ratio: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_action: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_media: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_idempotency_key: [400, 'invalid_request_error', 'bad_request_error', 2013],
  conflicting_source: [400, 'invalid_request_error', 'bad_request_error', 2013],
  unknown_field: [400, 'invalid_request_error', 'bad_request_error', 2013],
  model_price_error: [400, 'invalid_request_error', 'bad_request_error', 2013],
  source_task_not_ready: [400, 'invalid_request_error', 'bad_request_error', 2013],
  source_task_unsupported: [400, 'invalid_request_error', 'bad_request_error', 2013],
  invalid_api_key: [401, 'authentication_error', 'authorized_error', 1004],
  token_disabled: [403, 'permission_error', 'authorized_error', 1004],
  invalid_link: [403, 'permission_error', 'authorized_error', 1004],
  not_found: [404, 'invalid_request_error', 'bad_request_error', 2013],
  model_not_found: [404, 'invalid_request_error', 'bad_request_error', 2013],
  task_not_found: [404, 'invalid_request_error', 'bad_request_error', 2013],
  thumbnail_unavailable: [404, 'invalid_request_error', 'bad_request_error', 2013],
  last_frame_unavailable: [404, 'invalid_request_error', 'bad_request_error', 2013],
  method_not_allowed: [405, 'invalid_request_error', 'bad_request_error', 2013],
  task_not_cancellable: [409, 'invalid_request_error', 'bad_request_error', 2013],
  task_not_completed: [409, 'invalid_request_error', 'bad_request_error', 2013],
  idempotency_key_in_use: [409, 'invalid_request_error', 'bad_request_error', 2013],
  result_expired: [410, 'invalid_request_error', 'bad_request_error', 2013],
  body_too_large: [413, 'invalid_request_error', 'bad_request_error', 2013],
  unsupported_media_type: [415, 'invalid_request_error', 'bad_request_error', 2013],
  unsupported_content_encoding: [415, 'invalid_request_error', 'bad_request_error', 2013],
  content_rejected: [422, 'invalid_request_error', 'unprocessable_entity_error', 1026],
  idempotency_key_reused: [422, 'invalid_request_error', 'bad_request_error', 2013],
  upgrade_required: [426, 'invalid_request_error', 'bad_request_error', 2013],
  rate_limit_exceeded: [429, 'rate_limit_error', 'rate_limit_error', 1002],
  too_many_tasks: [429, 'rate_limit_error', 'rate_limit_error', 1002],
  insufficient_quota: [429, 'insufficient_quota', 'insufficient_balance_error', 1008],
  api_not_implemented: [501, 'not_implemented_error', 'server_error', 1000],
  upstream_failed: [502, 'server_error', 'server_error', 1000],
  no_channel_available: [503, 'server_error', 'server_error', 1000],
} as const satisfies Readonly<Record<string, readonly [number, string, string, number]>>;

export type Code = keyof typeof REFUSALS;
/** Codes that have another name on the wire. */
const WIRE_CODES: Readonly<Partial<Record<Code, string>>> = { method_not_allowed: 'not_found' };

/** A refusal in the envelope of /v1, with the field `param` if one is at fault. */
export function refused(
  code: Code,
  param?: string | Described | null,
  headers: Expectation['headers'] = {},
): Expectation {
  const [status, type] = REFUSALS[code];
  const error = { type, code: WIRE_CODES[code] ?? code, ...(param === undefined ? {} : { param }) };
  return { status, body: { error }, headers };
}

/** A refusal in the envelope of /v2, whose message names the field. */
export function refusedV2(code: Code, param?: string, headers: Expectation['headers'] = {}): Expectation {
  const [status, , type, number] = REFUSALS[code];
  const message = param === undefined ? new RegExp(`\\(${number}\\)$`) : containing(param);
  return { status, body: { type: 'error', error: { type, message, http_code: String(status) } }, headers };
}

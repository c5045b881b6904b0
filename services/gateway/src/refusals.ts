import { newRefusals } from '@reelgate/platform/refusal-table';

/**
 * Every reason for which this service refuses, with its family. A sentence that names a value or a field of the request
 * stands where the refusal arises; refusals.md lists them all.
 */
export const REFUSALS = {
  api_not_implemented: { kind: 'unavailable' },
  batch_not_found: { kind: 'not_found', message: 'there is no such batch' },
  body_too_large: { kind: 'invalid' },
  body_too_slow: {
    kind: 'invalid',
    message: 'the body arrives too slowly, or has stopped; send it again over a faster connection',
  },
  confirmation_required: { kind: 'unprocessable' },
  conflicting_source: { kind: 'invalid' },
  content_rejected: { kind: 'unprocessable' },
  file_not_found: { kind: 'not_found' },
  foreign_request: { kind: 'forbidden' },
  gateway_busy: { kind: 'unavailable' },
  internal_error: { kind: 'internal' },
  invalid_action: { kind: 'invalid' },
  invalid_api_key: {
    kind: 'unauthenticated',
    message: 'missing or malformed token; send the header Authorization: Bearer <token>',
  },
  invalid_content: { kind: 'invalid' },
  invalid_duration: { kind: 'invalid' },
  invalid_encrypted_content: { kind: 'invalid' },
  invalid_idempotency_key: { kind: 'invalid' },
  invalid_json: { kind: 'invalid' },
  invalid_media: { kind: 'invalid' },
  invalid_operator_key: { kind: 'unauthenticated' },
  invalid_ratio: { kind: 'invalid' },
  invalid_request: { kind: 'invalid' },
  invalid_resolution: { kind: 'invalid' },
  invalid_webhook_url: { kind: 'invalid' },
  last_frame_unavailable: {
    kind: 'not_found',
    message: 'this video has no picture of its last frame: order it with return_last_frame, where the model takes it',
  },
  media_busy: { kind: 'unavailable', message: 'media sends as many webhooks as it can; try again' },
  method_not_allowed: { kind: 'invalid' },
  missing_model: { kind: 'invalid' },
  model_not_found: { kind: 'not_found' },
  no_channel_available: { kind: 'unavailable' },
  not_found: { kind: 'not_found' },
  previous_response_not_found: { kind: 'invalid' },
  rate_limit_exceeded: { kind: 'exhausted' },
  reference_not_found: { kind: 'invalid' },
  result_expired: { kind: 'gone' },
  role_missing: { kind: 'forbidden' },
  service_unavailable: { kind: 'unavailable' },
  several_sessions: { kind: 'invalid' },
  sign_out_incomplete: { kind: 'unavailable' },
  signed_out: {
    kind: 'unauthenticated',
    message: 'this needs a session, and there is none or it has ended; sign in again',
  },
  task_not_completed: { kind: 'conflict' },
  task_not_found: { kind: 'not_found' },
  thumbnail_unavailable: {
    kind: 'not_found',
    message: 'this video has no thumbnail: its first frame could not be decoded',
  },
  token_disabled: { kind: 'forbidden', message: 'the token has expired' },
  tokens_not_allowed: { kind: 'forbidden' },
  unknown_field: { kind: 'invalid' },
  unknown_rpc: { kind: 'not_found' },
  unsupported_content_encoding: { kind: 'invalid' },
  unsupported_media_type: { kind: 'invalid' },
  upgrade_required: { kind: 'invalid' },
  upstream_failed: { kind: 'unavailable' },
  upstream_refused: { kind: 'invalid' },
  upstream_timeout: { kind: 'unavailable' },
  webhook_delivery_not_found: { kind: 'not_found', message: 'no such webhook delivery' },
  webhook_endpoint_not_found: { kind: 'not_found', message: 'no such webhook endpoint' },
  webhooks_not_allowed: { kind: 'forbidden' },
} as const;

export type Reason = keyof typeof REFUSALS;

export const refuse = newRefusals(REFUSALS);

import { newRefusals } from '@reelgate/platform/refusal-table';

/**
 * Every reason for which this service refuses, with its family. A sentence that names a value or a field of the request
 * stands where the refusal arises; refusals.md lists them all.
 */
export const REFUSALS = {
  already_settled: { kind: 'conflict' },
  batch_not_cancellable: { kind: 'conflict' },
  batch_not_found: { kind: 'not_found' },
  body_too_large: { kind: 'invalid' },
  channel_not_found: { kind: 'not_found', message: 'no such channel; `channel list` shows every channel' },
  conflicting_source: { kind: 'invalid' },
  content_rejected: {
    kind: 'unprocessable',
    message: 'the generator refused the content of this request; change the text or the media',
  },
  event_expired: { kind: 'gone' },
  idempotency_key_in_use: {
    kind: 'conflict',
    message: 'the first request with this idempotency key is still running; retry shortly',
  },
  idempotency_key_reused: {
    kind: 'unprocessable',
    message: 'this idempotency key belongs to a different request; use a new key for a new request',
  },
  internal_error: { kind: 'internal', message: 'something went wrong here' },
  invalid_content: { kind: 'invalid' },
  invalid_duration: { kind: 'invalid' },
  invalid_media: { kind: 'invalid' },
  invalid_ratio: { kind: 'invalid' },
  invalid_request: { kind: 'invalid' },
  invalid_resolution: { kind: 'invalid' },
  invalid_webhook_url: { kind: 'invalid' },
  job_lease_lost: { kind: 'conflict', message: 'this lease of the job has ended; do not call the upstream' },
  job_not_retried: {
    kind: 'conflict',
    message:
      'the call may have taken place and cannot be retried; decide as completed to charge the hold, or as failed to release it',
  },
  missing_model: { kind: 'invalid' },
  model_not_found: { kind: 'not_found' },
  no_channel_available: { kind: 'unavailable', message: 'no generator is available for this request now; retry later' },
  not_found: { kind: 'not_found' },
  not_in_attention: {
    kind: 'conflict',
    message: 'this task does not wait for a decision; `attention list` shows the tasks that do',
  },
  note_not_found: { kind: 'not_found', message: 'no such note; it may have been resolved' },
  note_of_another: { kind: 'forbidden', message: 'only its author deletes a note; resolve it instead' },
  note_subject_not_found: { kind: 'not_found' },
  queue_full: { kind: 'exhausted' },
  rate_limit_exceeded: { kind: 'exhausted' },
  result_expired: { kind: 'gone', message: 'the result has expired: expires_at has passed' },
  service_unavailable: { kind: 'unavailable' },
  source_task_not_ready: { kind: 'invalid' },
  source_task_unsupported: { kind: 'invalid' },
  still_deferred: { kind: 'conflict', message: 'the usage is still far above the hold; decide as completed or failed' },
  task_not_cancellable: { kind: 'conflict' },
  task_not_completed: { kind: 'conflict' },
  task_not_found: { kind: 'not_found' },
  task_not_waiting: {
    kind: 'conflict',
    message: 'the task does not wait in the queue: it has its turn, or it has ended',
  },
  token_disabled: { kind: 'forbidden', message: 'the API key has expired; use another key' },
  token_not_found: { kind: 'not_found' },
  too_many_batches: {
    kind: 'exhausted',
    message: 'too many batches of this account have not ended; retry when one has',
  },
  too_many_notes: { kind: 'conflict' },
  too_many_streams: { kind: 'exhausted' },
  too_many_tasks: { kind: 'exhausted' },
  unknown_field: { kind: 'invalid' },
  upload_too_slow: { kind: 'unavailable' },
  webhook_delivery_not_found: { kind: 'not_found', message: 'there is no such webhook delivery' },
  webhook_endpoint_disabled: { kind: 'conflict', message: 'the webhook endpoint is disabled; enable it first' },
  webhook_endpoint_limit: { kind: 'unprocessable' },
  webhook_endpoint_not_found: { kind: 'not_found', message: 'there is no such webhook endpoint' },
  webhook_not_reached: { kind: 'unprocessable' },
  would_wait_too_long: { kind: 'exhausted' },
} as const;

export const refuse = newRefusals(REFUSALS);

import { newRefusals } from '@reelgate/platform/refusal-table';

/**
 * Every reason for which this service refuses, with its family. A sentence that names a value or a field of the request
 * stands where the refusal arises; refusals.md lists them all.
 */
export const REFUSALS = {
  account_not_found: { kind: 'not_found' },
  amount_out_of_bounds: { kind: 'invalid' },
  call_id_taken: { kind: 'conflict' },
  hold_ended: { kind: 'conflict', message: 'the hold of this task has ended' },
  hold_not_found: { kind: 'not_found' },
  hold_voided: { kind: 'conflict' },
  insufficient_quota: { kind: 'exhausted' },
  invalid_api_key: {
    kind: 'unauthenticated',
    message: 'the API key is unknown; send a valid one as `Authorization: Bearer …`',
  },
  invalid_request: { kind: 'invalid' },
  model_price_error: { kind: 'invalid' },
  price_above_max: { kind: 'unprocessable' },
  request_id_reused: { kind: 'conflict' },
  task_id_taken: { kind: 'conflict' },
  token_disabled: { kind: 'forbidden' },
  token_not_found: { kind: 'not_found' },
  tokens_not_allowed: {
    kind: 'forbidden',
    message: 'this token may not make or revoke tokens; use a token with the right tokens: write',
  },
  too_many_tokens: { kind: 'unprocessable' },
} as const;

export const refuse = newRefusals(REFUSALS);

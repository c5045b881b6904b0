import { newRefusals } from '@reelgate/platform/refusal-table';

/**
 * Every reason for which this service refuses, with its family. A sentence that names a value or a field of the request
 * stands where the refusal arises; refusals.md lists them all. The HTTP port has a table of its own in http/refuse.ts.
 */
export const REFUSALS = {
  body_too_large: { kind: 'invalid' },
  file_limit: { kind: 'unprocessable' },
  file_not_found: { kind: 'not_found', message: 'no such file' },
  invalid_media: { kind: 'invalid' },
  invalid_request: { kind: 'invalid' },
  media_busy: { kind: 'unavailable' },
  not_found: { kind: 'not_found' },
  rate_limit_exceeded: { kind: 'exhausted' },
  result_expired: { kind: 'gone', message: 'the result of this task is no longer stored' },
  result_refused: { kind: 'invalid' },
  result_unreachable: { kind: 'unavailable' },
  storage_unavailable: { kind: 'unavailable', message: 'media cannot be stored or read now; try again' },
} as const;

export const refuse = newRefusals(REFUSALS);

import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../../refusals.ts';

const RETRY_MS = 60_000;

export const batchNotFound = (field?: string): Problem =>
  refuse('batch_not_found', {
    field,
    message: field === undefined ? 'there is no such batch' : 'must be the id of a batch of this account',
  });

export const tooManyBatches = (): Problem => refuse('too_many_batches', { retryAfterMs: RETRY_MS });

export const batchEnded = (status: string): Problem =>
  refuse('batch_not_cancellable', {
    message: `only a batch that begins lines can be cancelled; this one is ${status}`,
  });

export const invalidMetadata = (field: string, message: string): Problem =>
  refuse('invalid_request', { field, message });

import { Problem } from '@reelgate/platform/problem';

const RETRY_MS = 60_000;

export const batchNotFound = (field?: string): Problem =>
  new Problem({
    kind: 'not_found',
    reason: 'batch_not_found',
    field,
    message: field === undefined ? 'there is no such batch' : 'must be the id of a batch of this account',
  });

export const tooManyBatches = (): Problem =>
  new Problem({
    kind: 'exhausted',
    reason: 'too_many_batches',
    message: 'too many batches of this account have not ended; retry when one has',
    retryAfterMs: RETRY_MS,
  });

export const batchEnded = (status: string): Problem =>
  new Problem({
    kind: 'conflict',
    reason: 'batch_not_cancellable',
    message: `only a batch that begins lines can be cancelled; this one is ${status}`,
  });

export const invalidMetadata = (field: string, message: string): Problem =>
  new Problem({ kind: 'invalid', reason: 'invalid_request', field, message });

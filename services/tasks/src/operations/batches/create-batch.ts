import { createHash } from 'node:crypto';
import type { Batch, BatchOrigin } from '../../domain/batch.ts';
import { KEY_LIFETIME_MS } from '../creates/idempotency.ts';
import { keyInUse, keyReused } from '../task-refusals.ts';
import type { BatchDeps } from './batch-deps.ts';
import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../../refusals.ts';

/** The time in which the lines of a batch may begin. */
const WINDOW_MS = 24 * 3_600_000;
const METADATA_MAX = 16;
const METADATA_KEY_MAX = 64;
const METADATA_VALUE_MAX = 512;
/** The bytes for which an ended batch counts: its metadata, its errors and its counters have less. */
const RECORD_BYTES = 16 * 1024;
/** The member of the metadata that bounds the cost of a batch. */
const MAX_AMOUNT = 'max_amount';

/** A batch as a client orders it. */
export interface BatchRequest extends Omit<BatchOrigin, 'id' | 'maxNanos' | 'createdAt' | 'expiresAt'> {
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
}

/** Stores a batch with a file that is still to be read. It is durable when this resolves. */
export async function createBatch(
  deps: BatchDeps,
  request: BatchRequest,
): Promise<{ readonly batch: Batch; readonly replayed: boolean }> {
  const { batches, clock, newId, limits, log } = deps;
  assertMetadata(request.metadata);
  const earlier = await findEarlierBatch(deps, request);
  if (earlier !== undefined) return { batch: earlier, replayed: true };
  await assertRoom(deps, request.accountId);
  const { idempotency, ...origin } = request;
  const createdAt = clock.now();
  const id = newId('batch');
  const created = await batches.createBatch(
    {
      ...origin,
      id,
      createdAt,
      expiresAt: createdAt + WINDOW_MS,
      maxNanos: readMaxNanos(request.metadata),
      idempotency: idempotency && { ...idempotency, expiresAt: createdAt + KEY_LIFETIME_MS },
    },
    limits.perAccount,
  );
  if (created === 'full') throw tooManyBatches();
  if (created === 'key_taken') {
    const other = await findEarlierBatch(deps, request);
    if (other === undefined) throw keyInUse();
    return { batch: other, replayed: true };
  }
  log.info({ batchId: id, accountId: request.accountId }, 'a batch was created');
  return { batch: await readCreatedBatch(deps, id), replayed: false };
}

/**
 * Refuses an account with files and ended batches that fill its file storage. The results of a batch are stored in any
 * case, so it must not begin.
 */
async function assertRoom({ batches, media }: BatchDeps, accountId: string): Promise<void> {
  await media.assertFileRoom(accountId, (await batches.countEnded(accountId)) * RECORD_BYTES);
}

/** The fingerprint of a batch without a fingerprint of its caller. */
export function digestBatch({ endpoint, inputFileId, metadata, outputExpiresAfterMs }: BatchRequest): string {
  const sorted = Object.entries(metadata).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([endpoint, inputFileId, sorted, outputExpiresAfterMs ?? null]);
  return `batch:${createHash('sha256').update(text).digest('base64url')}`;
}

async function findEarlierBatch({ batches, clock }: BatchDeps, request: BatchRequest): Promise<Batch | undefined> {
  const { accountId, idempotency } = request;
  if (idempotency === undefined) return undefined;
  const record = await batches.findKey(accountId, idempotency.key, clock.now());
  if (record === undefined) return undefined;
  if (record.fingerprint !== idempotency.fingerprint) throw keyReused();
  return batches.findBatch(record.taskId);
}

async function readCreatedBatch({ batches }: BatchDeps, batchId: string): Promise<Batch> {
  const batch = await batches.findBatch(batchId);
  if (batch === undefined) throw new Error(`batch ${batchId} was written and is not there`);
  return batch;
}

/** Returns the member of an object by its own name, or undefined if it has no such member. */
function readMaxNanos(metadata: BatchRequest['metadata']): bigint | undefined {
  const text = Object.hasOwn(metadata, MAX_AMOUNT) ? metadata[MAX_AMOUNT] : undefined;
  if (text === undefined) return undefined;
  const nanos = parseNanos(text);
  if (nanos === undefined)
    throw invalidMetadata('metadata.max_amount', 'must be an amount with at most nine decimals, such as "12.50"');
  return nanos;
}

function assertMetadata(metadata: BatchRequest['metadata']): void {
  const entries = Object.entries(metadata);
  if (entries.length > METADATA_MAX)
    throw invalidMetadata('metadata', `must have at most ${METADATA_MAX} members; it has ${entries.length}`);
  for (const [name, value] of entries) {
    if (name.length > METADATA_KEY_MAX || name.includes('\0'))
      throw invalidMetadata('metadata', `must have names of at most ${METADATA_KEY_MAX} characters`);
    if (value.length > METADATA_VALUE_MAX || value.includes('\0'))
      throw invalidMetadata('metadata', `must have values of at most ${METADATA_VALUE_MAX} characters`);
  }
}

/** Reads a batch for its owner. For other accounts it does not exist. */
export async function getBatch({ batches }: BatchDeps, accountId: string, batchId: string): Promise<Batch> {
  const batch = await batches.findBatch(batchId);
  if (batch?.accountId !== accountId) throw batchNotFound();
  return batch;
}

export interface BatchPage {
  readonly batches: readonly Batch[];
  readonly hasMore: boolean;
}

/** Lists a page of batches, the newest first. */
export async function listBatches(
  { batches }: BatchDeps,
  accountId: string,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
): Promise<BatchPage> {
  if (after !== undefined && (await batches.findBatch(after))?.accountId !== accountId) throw batchNotFound('after');
  const found = await batches.listBatches(accountId, { limit: limit + 1, after });
  return { batches: found.slice(0, limit), hasMore: found.length > limit };
}

/** Begins no further line of a batch. A repeat has no effect. */
export async function cancelBatch(deps: BatchDeps, accountId: string, batchId: string): Promise<Batch> {
  const { batches, clock, wake, log } = deps;
  await getBatch(deps, accountId, batchId);
  const isChanged = await batches.cancelBatch(batchId, clock.now());
  if (isChanged) {
    log.info({ batchId, accountId }, 'a batch was cancelled');
    wake.batches();
  }
  const batch = await getBatch(deps, accountId, batchId);
  if (batch.outcome !== 'cancelled') throw batchEnded(nameStatus(batch));
  return batch;
}

export type BatchStatus =
  'validating' | 'failed' | 'in_progress' | 'finalizing' | 'completed' | 'expired' | 'cancelling' | 'cancelled';

/** The state of a batch as clients read it. */
export function nameStatus({ phase, outcome }: Batch): BatchStatus {
  if (phase === 'ended') return outcome ?? 'completed';
  if (outcome === 'cancelled') return 'cancelling';
  return phase === 'reading' ? 'validating' : phase === 'running' ? 'in_progress' : 'finalizing';
}

const AMOUNT = /^(\d{1,9})(?:\.(\d{1,9}))?$/;
const DECIMALS = 9;

/** Reads an amount such as `12.50` as billionths. Returns undefined if the text is not an amount. */
function parseNanos(text: string): bigint | undefined {
  const match = AMOUNT.exec(text);
  if (match === null) return undefined;
  const [, whole = '0', decimals = ''] = match;
  return BigInt(whole + decimals.padEnd(DECIMALS, '0'));
}

const RETRY_MS = 60_000;

const batchNotFound = (field?: string): Problem =>
  refuse('batch_not_found', {
    field,
    message: field === undefined ? 'there is no such batch' : 'must be the id of a batch of this account',
  });

const tooManyBatches = (): Problem => refuse('too_many_batches', { retryAfterMs: RETRY_MS });

const batchEnded = (status: string): Problem =>
  refuse('batch_not_cancellable', {
    message: `only a batch that begins lines can be cancelled; this one is ${status}`,
  });

export const invalidMetadata = (field: string, message: string): Problem =>
  refuse('invalid_request', { field, message });

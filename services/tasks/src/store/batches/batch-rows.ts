import type { SqlQuery, SqlRow, SqlValue } from '@reelgate/platform/sql/sql';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import { BatchCallSchema } from '@reelgate/proto/tasks/v1/batch';
import type { Batch, BatchOrigin, BatchPhase } from '../../domain/batch.ts';
import type { BatchLease } from '../batch-store.ts';
import {
  inJson,
  inNumber,
  inOptionalJson,
  inOptionalMessage,
  inOptionalNumber,
  inOptionalText,
  inText,
  recordColumns,
} from '../columns.ts';
import type { Fields } from '../columns.ts';
import { ANNOTATION_FIELDS } from '../tasks/task-rows.ts';

const ORIGIN_FIELDS: Fields<BatchOrigin> = {
  id: inText('id'),
  accountId: inText('account_id'),
  tokenId: inText('token_id'),
  requestId: inOptionalText('request_id'),
  endpoint: inText('endpoint'),
  inputFileId: inText('input_file_id'),
  metadata: inJson('metadata_json'),
  outputExpiresAfterMs: inOptionalNumber('output_expires_after_ms'),
  maxNanos: {
    columns: ['max_nanos'],
    read: (row) => (row['max_nanos'] === null ? undefined : toNanos(row['max_nanos'])),
    write: (value) => ({ max_nanos: value ?? null }),
  },
  createdAt: inNumber('created_at'),
  expiresAt: inNumber('expires_at'),
  ...ANNOTATION_FIELDS,
};

export const BATCH_ORIGIN = recordColumns(ORIGIN_FIELDS);

export const BATCH = recordColumns<Batch>({
  ...ORIGIN_FIELDS,
  phase: inText('phase'),
  outcome: {
    columns: ['outcome'],
    read: (row) => (row['outcome'] ?? undefined) as Batch['outcome'],
    write: (value) => ({ outcome: value ?? null }),
  },
  model: inOptionalText('model'),
  total: inNumber('total'),
  completed: inNumber('completed'),
  failed: inNumber('failed'),
  chargedNanos: {
    columns: ['charged_nanos'],
    read: (row) => toNanos(row['charged_nanos']),
    write: (value) => ({ charged_nanos: value }),
  },
  currency: inOptionalText('currency'),
  uncharged: inNumber('uncharged'),
  faults: inOptionalJson('faults_json'),
  outputFileId: inOptionalText('output_file_id'),
  errorFileId: inOptionalText('error_file_id'),
  runningAt: inOptionalNumber('running_at'),
  writingAt: inOptionalNumber('writing_at'),
  cancellingAt: inOptionalNumber('cancelling_at'),
  endedAt: inOptionalNumber('ended_at'),
});

/** The call of a line, until it has its job. */
export const CALL = inOptionalMessage('call_json', BatchCallSchema);

export function toNanos(value: SqlValue | undefined): bigint {
  return BigInt(value ?? 0);
}

/** The condition of the index of lines that have not ended, in its own text. */
export const OPEN = "state IN ('pending', 'starting', 'running')";

const HOLD = buildStatement<'batchId' | 'lease' | 'phase' | 'until'>(
  (of) => `UPDATE batches SET due_at = ${of('until')}
    WHERE id = ${of('batchId')} AND lease = ${of('lease')} AND phase = ${of('phase')}
    RETURNING account_id, reserved_nanos, max_nanos`,
);

/** Extends a lease, and locks its batch for the rest of the transaction. Returns undefined if it is not held. */
export async function holdLease(
  query: SqlQuery,
  lease: BatchLease,
  phase: BatchPhase,
  until: number,
): Promise<SqlRow | undefined> {
  return (await query(...HOLD({ ...lease, phase, until })))[0];
}

const COUNT = buildStatement<'batchId' | 'total' | 'completed' | 'failed' | 'nanos'>(
  (of) => `UPDATE batches SET total = total + ${of('total')}, completed = completed + ${of('completed')},
    failed = failed + ${of('failed')}, reserved_nanos = reserved_nanos + ${of('nanos')} WHERE id = ${of('batchId')}`,
);

export interface BatchCounts {
  readonly total?: number;
  readonly completed?: number;
  readonly failed?: number;
  readonly nanos?: bigint;
}

/** Changes the counters of a batch, in the transaction that changes its lines. */
export async function countLines(
  query: SqlQuery,
  batchId: string,
  { total = 0, completed = 0, failed = 0, nanos = 0n }: BatchCounts,
): Promise<void> {
  await query(...COUNT({ batchId, total, completed, failed, nanos }));
}

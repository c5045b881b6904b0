import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { BatchFaultSchema, BatchLineSchema, BatchSchema, BatchStatus } from '@reelgate/proto/tasks/v1/batch';
import type {
  Batch as WireBatch,
  BatchFault as WireFault,
  BatchLine as WireLine,
  BatchLineInput,
} from '@reelgate/proto/tasks/v1/batch';
import { BatchWork } from '@reelgate/proto/tasks/v1/batch_service';
import type { Batch, BatchFault } from '../domain/batch.ts';
import { BATCH_LINES_MAX } from '../domain/batch.ts';
import { nameStatus } from '../operations/batches/create-batch.ts';
import type { EndedLine, NewBatchLine } from '../store/batch-store.ts';
import { toWireJob, toWireTask } from '../operations/reads/work-messages.ts';
import { fromWireOrder } from './mapping-order.ts';
import { emptyToUndefined } from './request-fields.ts';
import { refuse } from '../refusals.ts';

const MS = 1000;

const STATUSES = deriveValues(BatchStatus);
export const WORKS = deriveValues(BatchWork);

/** The view of a batch for its owner. */
export function toWireBatch(batch: Batch): WireBatch {
  const { outputExpiresAfterMs } = batch;
  return toMessage(BatchSchema, {
    id: batch.id,
    accountId: batch.accountId,
    endpoint: batch.endpoint,
    inputFileId: batch.inputFileId,
    status: STATUSES[nameStatus(batch)],
    model: batch.model,
    metadata: { ...batch.metadata },
    total: batch.total,
    completed: batch.completed,
    failed: batch.failed,
    chargedNanos: batch.chargedNanos,
    currency: batch.currency,
    chargesOpen: batch.phase !== 'ended' || batch.uncharged > 0,
    faults: (batch.faults ?? []).map(toWireFault),
    outputFileId: batch.outputFileId,
    errorFileId: batch.errorFileId,
    createdAt: toTimestamp(batch.createdAt),
    inProgressAt: toTimestamp(batch.runningAt),
    expiresAt: toTimestamp(batch.expiresAt),
    finalizingAt: toTimestamp(batch.writingAt),
    cancellingAt: toTimestamp(batch.cancellingAt),
    endedAt: toTimestamp(batch.endedAt),
    outputExpiresAfterSeconds: outputExpiresAfterMs === undefined ? undefined : BigInt(outputExpiresAfterMs / MS),
  });
}

function toWireFault({ code, message, line, param }: BatchFault): WireFault {
  return toMessage(BatchFaultSchema, { code, message, line, param });
}

export function fromWireFault({ code, message, line, param }: WireFault): BatchFault {
  return { code, message, line: line === 0 ? undefined : line, param: emptyToUndefined(param) };
}

export function fromWireLine({ number, customId, body, fieldNames }: BatchLineInput): NewBatchLine {
  if (number < 1 || number > BATCH_LINES_MAX)
    throw refuse('invalid_request', {
      field: 'lines.number',
      message: `must be from 1 to ${BATCH_LINES_MAX}; it is ${number}`,
    });
  return { number, customId, body: fromWireBody(body, fieldNames) };
}

function fromWireBody(body: BatchLineInput['body'], names: BatchLineInput['fieldNames']): NewBatchLine['body'] {
  if (body.case === 'fault') return { fault: fromWireFault(body.value) };
  if (body.case === 'call') return body.value;
  return { order: fromWireOrder(body.value), ...(Object.keys(names).length === 0 ? {} : { names }) };
}

/** The task or the answer of such a line may be gone by now. */
const DELETED: BatchFault = { code: 'task_deleted', message: 'the result was deleted before the batch ended' };

export function toWireLine({ number, customId, task, job, fault }: EndedLine, now: number): WireLine {
  const toEnd = (): WireLine['end'] => {
    if (task !== undefined) return { case: 'task', value: toWireTask(task, now) };
    if (job !== undefined) return { case: 'job', value: toWireJob(job) };
    return { case: 'fault', value: toWireFault(fault ?? DELETED) };
  };
  return toMessage(BatchLineSchema, { number, customId, end: toEnd() });
}

import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import {
  BatchLeaseSchema,
  LeaseBatchResponseSchema,
  ListBatchLinesResponseSchema,
  BatchWork,
} from '@reelgate/proto/tasks/v1/batch_service';
import type { BatchService, CreateBatchRequest, LeaseBatchResponse } from '@reelgate/proto/tasks/v1/batch_service';
import type { TokenReader } from '../operations/cached-tokens.ts';
import type { BatchDeps } from '../operations/batches/batch-deps.ts';
import {
  cancelBatch,
  createBatch,
  digestBatch,
  getBatch,
  listBatches,
  nameStatus,
} from '../operations/batches/create-batch.ts';
import type { BatchRequest } from '../operations/batches/create-batch.ts';
import {
  appendLines,
  finishBatch,
  finishRead,
  leaseBatch,
  listEndedLines,
  returnBatch,
} from '../operations/batches/work-batches.ts';
import type { LeasedBatch } from '../operations/batches/work-batches.ts';
import { emptyToUndefined, readIdempotency, readLimit } from './request-fields.ts';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { BatchFaultSchema, BatchLineSchema, BatchSchema, BatchStatus } from '@reelgate/proto/tasks/v1/batch';
import type {
  Batch as WireBatch,
  BatchFault as WireFault,
  BatchLine as WireLine,
  BatchLineInput,
} from '@reelgate/proto/tasks/v1/batch';
import { readAnnotations } from '../domain/annotations.ts';
import { BATCH_LINES_MAX } from '../domain/batch.ts';
import type { Batch, BatchFault } from '../domain/batch.ts';
import type { EndedLine, NewBatchLine } from '../store/batch-store.ts';
import { toWireJob, toWireTask } from '../operations/reads/work-messages.ts';
import { fromWireOrder } from './mapping-order.ts';
import { refuse } from '../refusals.ts';

const LIST_LIMIT = 20;
const LIST_LIMIT_MAX = 100;
const LINES_LIMIT_MAX = 256;
const MS = 1000;

/** Each method converts from the wire, runs an operation and converts to the wire. */
export function batchService(deps: BatchDeps, tokens: TokenReader): Implementation<typeof BatchService> {
  return {
    createBatch: async (request, { requestId }) => {
      await tokens.findRights(request.tokenId, request.accountId);
      const { batch, replayed } = await createBatch(deps, toBatchRequest(request, requestId));
      return { batch: toWireBatch(batch), replayed };
    },
    getBatch: async ({ accountId, batchId }) => ({ batch: toWireBatch(await getBatch(deps, accountId, batchId)) }),
    listBatches: async ({ accountId, limit, after }) => {
      const page = {
        limit: Math.min(Math.max(readLimit(limit, LIST_LIMIT), 1), LIST_LIMIT_MAX),
        after: emptyToUndefined(after),
      };
      const { batches, hasMore } = await listBatches(deps, accountId, page);
      return { batches: batches.map(toWireBatch), hasMore };
    },
    cancelBatch: async ({ accountId, batchId }) => ({
      batch: toWireBatch(await cancelBatch(deps, accountId, batchId)),
    }),
    leaseBatch: async () => toWireLeased(await leaseBatch(deps)),
    appendBatchLines: async ({ lease, lines }) => ({
      stored: await appendLines(deps, requireField(lease, 'lease'), lines.map(fromWireLine)),
    }),
    finishBatchRead: async ({ lease, model, faults }) => ({
      finished: await finishRead(deps, requireField(lease, 'lease'), { model, faults: faults.map(fromWireFault) }),
    }),
    listBatchLines: async ({ lease, after, limit, withTask }) => {
      const page = { after, limit: Math.min(Math.max(limit, 1), LINES_LIMIT_MAX), withTask };
      const lines = await listEndedLines(deps, requireField(lease, 'lease'), page);
      const now = deps.clock.now();
      return toMessage(ListBatchLinesResponseSchema, {
        held: lines !== undefined,
        lines: (lines ?? []).map((line) => toWireLine(line, now)),
      });
    },
    finishBatch: async ({ lease, outputFileId, errorFileId }) => ({
      finished: await finishBatch(deps, requireField(lease, 'lease'), {
        outputFileId: emptyToUndefined(outputFileId),
        errorFileId: emptyToUndefined(errorFileId),
      }),
    }),
    returnBatch: async ({ lease, delayMs }) => ({
      returned: await returnBatch(deps, requireField(lease, 'lease'), Number(delayMs)),
    }),
  };
}

function toWireLeased(leased: LeasedBatch | undefined): LeaseBatchResponse {
  return toMessage(LeaseBatchResponseSchema, {
    lease: leased && toMessage(BatchLeaseSchema, leased.lease),
    work: leased && WORKS[leased.work],
    batch: leased && toWireBatch(leased.batch),
    requestId: leased?.batch.requestId,
  });
}

function toBatchRequest(request: CreateBatchRequest, requestId: string): BatchRequest {
  const { outputExpiresAfterSeconds: seconds } = request;
  const batch: BatchRequest = {
    accountId: request.accountId,
    tokenId: request.tokenId,
    requestId: emptyToUndefined(requestId),
    endpoint: request.endpoint,
    inputFileId: request.inputFileId,
    metadata: request.metadata,
    ...readAnnotations(request),
    outputExpiresAfterMs: seconds === 0n ? undefined : Number(seconds) * MS,
  };
  return { ...batch, idempotency: readIdempotency(request, () => digestBatch(batch)) };
}

const STATUSES = deriveValues(BatchStatus);
const WORKS = deriveValues(BatchWork);

/** The view of a batch for its owner. */
function toWireBatch(batch: Batch): WireBatch {
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

function fromWireFault({ code, message, line, param }: WireFault): BatchFault {
  return { code, message, line: line === 0 ? undefined : line, param: emptyToUndefined(param) };
}

function fromWireLine({ number, customId, body, fieldNames }: BatchLineInput): NewBatchLine {
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

function toWireLine({ number, customId, task, job, fault }: EndedLine, now: number): WireLine {
  const toEnd = (): WireLine['end'] => {
    if (task !== undefined) return { case: 'task', value: toWireTask(task, now) };
    if (job !== undefined) return { case: 'job', value: toWireJob(job) };
    return { case: 'fault', value: toWireFault(fault ?? DELETED) };
  };
  return toMessage(BatchLineSchema, { number, customId, end: toEnd() });
}

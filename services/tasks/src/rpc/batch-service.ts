import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import {
  BatchLeaseSchema,
  LeaseBatchResponseSchema,
  ListBatchLinesResponseSchema,
} from '@reelgate/proto/tasks/v1/batch_service';
import type { BatchService, CreateBatchRequest, LeaseBatchResponse } from '@reelgate/proto/tasks/v1/batch_service';
import type { TokenReader } from '../operations/cached-tokens.ts';
import type { BatchDeps } from '../operations/batches/batch-deps.ts';
import { cancelBatch, createBatch, digestBatch, getBatch, listBatches } from '../operations/batches/create-batch.ts';
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
import { WORKS, fromWireFault, fromWireLine, toWireBatch, toWireLine } from './mapping-batch.ts';
import { emptyToUndefined, readIdempotency, readLimit } from './request-fields.ts';

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
    label: emptyToUndefined(request.label),
    outputExpiresAfterMs: seconds === 0n ? undefined : Number(seconds) * MS,
  };
  return { ...batch, idempotency: readIdempotency(request, () => digestBatch(batch)) };
}

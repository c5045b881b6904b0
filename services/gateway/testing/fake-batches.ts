import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { BatchSchema, BatchStatus } from '@reelgate/proto/tasks/v1/batch';
import type { Batch } from '@reelgate/proto/tasks/v1/batch';
import { BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import type { CreateBatchRequest } from '@reelgate/proto/tasks/v1/batch_service';

const MADE_AT_MS = Date.UTC(2026, 0, 1);
const WINDOW_MS = 24 * 3_600_000;

/** The batches of the tasks service, in memory, without workers. */
export interface FakeBatches {
  readonly client: Client<typeof BatchService>;
  readonly created: readonly CreateBatchRequest[];
}

export function fakeBatches(): FakeBatches {
  const created: CreateBatchRequest[] = [];
  const batches = new Map<string, Batch>();
  const owned = (accountId: string, id: string): Batch => {
    const batch = batches.get(id);
    if (batch?.accountId === accountId) return batch;
    throw new Problem({ kind: 'not_found', reason: 'batch_not_found', message: 'there is no such batch' });
  };
  return {
    created,
    client: directClient(
      BatchService,
      partialService(BatchService, {
        createBatch: async (request) => {
          created.push(request);
          const batch = create(BatchSchema, {
            id: `batch_${created.length}`,
            accountId: request.accountId,
            endpoint: request.endpoint,
            inputFileId: request.inputFileId,
            status: BatchStatus.VALIDATING,
            metadata: request.metadata,
            createdAt: timestampFromMs(MADE_AT_MS),
            expiresAt: timestampFromMs(MADE_AT_MS + WINDOW_MS),
          });
          batches.set(batch.id, batch);
          return { batch };
        },
        getBatch: async ({ accountId, batchId }) => ({ batch: owned(accountId, batchId) }),
        listBatches: async ({ accountId, limit }) => {
          const all = [...batches.values()].filter((batch) => batch.accountId === accountId).reverse();
          return { batches: all.slice(0, limit), hasMore: all.length > limit };
        },
        cancelBatch: async ({ accountId, batchId }) => {
          const batch = owned(accountId, batchId);
          batch.status = BatchStatus.CANCELLING;
          return { batch };
        },
        leaseBatch: async () => ({}),
      }),
      aCaller(),
    ),
  };
}

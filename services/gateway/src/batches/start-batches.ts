import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Client } from '@reelgate/platform/rpc/service';
import { BatchWork } from '@reelgate/proto/tasks/v1/batch_service';
import type { BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import { withDeadline } from '../clients/caller.ts';
import { requireValue } from '../clients/wire-values.ts';
import type { Dialect, Links } from '../dialects/dialect.ts';
import type { ClientFiles } from '../clients/client-files.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import type { Catalogue } from '../domain/model-defaults.ts';
import type { ChargeReader } from '../operations/read-charge.ts';
import { startLeasedPool } from '../operations/leased-pool.ts';
import { listBatchEndpoints } from './batch-endpoints.ts';
import { readBatch } from './read-batch.ts';
import type { LeasedBatch } from './read-batch.ts';
import { writeBatch } from './write-batch.ts';
import type { BatchWriteDeps } from './write-batch.ts';

/** The files that a process reads or writes at once. Each takes a few megabytes. */
const FILES_AT_ONCE = 4;
const IDLE_MS = 500;
/** Work that failed is tried again after this time. */
const RETRY_MS = 5000n;

/** The parts that the workers of batches need. */
export interface BatchWorkParts {
  readonly batches: Client<typeof BatchService>;
  readonly files: ClientFiles;
  readonly media: PrivateStore & ByteReader;
  readonly links: Links;
  readonly charges: ChargeReader;
  readonly catalogue: () => Catalogue;
}

/** Starts the workers that read the files of batches and write those of their results. */
export function startBatches(
  { clock, log }: Foundation,
  { batches, files, media, links, charges, catalogue }: BatchWorkParts,
  dialects: readonly Dialect[],
  lifecycle: Lifecycle,
): void {
  const deps = {
    ...{ batches, files, media, links, charges, clock, log },
    endpoints: listBatchEndpoints(dialects),
    models: () => catalogue().models,
  };
  const pool = startLeasedPool<LeasedBatch>({
    name: 'batches',
    workers: FILES_AT_ONCE,
    drainMs: 0,
    idleMs: IDLE_MS,
    clock,
    log,
    lease: async () => {
      const { lease, batch, ...leased } = await batches.leaseBatch({}, withDeadline({}));
      if (lease === undefined) return { work: [], next: 0 };
      return { work: [{ ...leased, lease, batch: requireValue(batch) }], next: 1 };
    },
    run: (leased, { stopping }) => runWork(deps, leased, stopping),
  });
  lifecycle.add('batches', () => pool.stop());
}

/** Does not reject. Work that failed is given back, or its lease ends. */
async function runWork(deps: BatchWriteDeps, leased: LeasedBatch, signal: AbortSignal): Promise<void> {
  const { lease } = leased;
  const work = leased.work === BatchWork.WRITE ? 'write' : 'read';
  try {
    await (work === 'write' ? writeBatch : readBatch)(deps, leased, signal);
  } catch (error) {
    const isStopping = signal.aborted;
    if (!isStopping) deps.log.warn({ batchId: lease.batchId, work, err: error }, 'work on a batch is tried again');
    const delayMs = isStopping ? 0n : RETRY_MS;
    await deps.batches.returnBatch({ lease, delayMs }, withDeadline({})).catch(() => {
      // the lease ends by itself
    });
  }
}

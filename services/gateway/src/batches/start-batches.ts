import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Batches, LeasedBatch } from '../clients/batches-client.ts';
import type { Dialect, Links } from '../dialects/dialect.ts';
import type { ClientFiles } from '../clients/client-files.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { ChargeReader } from '../operations/read-charge.ts';
import { listBatchEndpoints } from './batch-endpoints.ts';
import { readBatch } from './read-batch.ts';
import { writeBatch } from './write-batch.ts';
import type { BatchWriteDeps } from './write-batch.ts';

/** The files that a process reads or writes at once. Each takes a few megabytes. */
const FILES_AT_ONCE = 4;
const IDLE_MS = 500;
/** Work that failed is tried again after this time. */
const RETRY_MS = 5000;

const WORK: Readonly<
  Record<LeasedBatch['work'], (deps: BatchWriteDeps, leased: LeasedBatch, signal: AbortSignal) => Promise<void>>
> = { read: readBatch, write: writeBatch };

/** The parts that the workers of batches need. */
export interface BatchWorkParts {
  readonly batches: Batches;
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
  const permits = newSemaphore({ permits: FILES_AT_ONCE, waitingMax: 0 });
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const begin = (leased: LeasedBatch): void => {
    const work = runWork(deps, leased, stopping.signal).finally(() => {
      running.delete(work);
      permits.release();
      worker.wake();
    });
    running.add(work);
  };
  const worker = startWorker({
    name: 'batches',
    clock,
    log,
    idleMs: IDLE_MS,
    pass: async () => {
      if (!permits.tryAcquire()) return 0;
      const leased = await batches.lease().catch((error: unknown) => {
        permits.release();
        throw error;
      });
      if (leased === undefined) {
        permits.release();
        return 0;
      }
      begin(leased);
      return 1;
    },
  });
  lifecycle.add('batches', async () => {
    stopping.abort();
    await worker.stop();
    await Promise.all(running);
  });
}

/** Does not reject. Work that failed is given back, or its lease ends. */
async function runWork(deps: BatchWriteDeps, leased: LeasedBatch, signal: AbortSignal): Promise<void> {
  const { lease, work } = leased;
  try {
    await WORK[work](deps, leased, signal);
  } catch (error) {
    const isStopping = signal.aborted;
    if (!isStopping) deps.log.warn({ batchId: lease.batchId, work, err: error }, 'work on a batch is tried again');
    await deps.batches.giveBack(lease, isStopping ? 0 : RETRY_MS).catch(() => {
      // the lease ends by itself
    });
  }
}

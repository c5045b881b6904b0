import type { Batch, BatchFault } from '../../domain/batch.ts';
import type { BatchLease, EndedLine, NewBatchLine } from '../../store/batch-store.ts';
import type { BatchDeps } from './batch-deps.ts';
import { withTimeout } from '@reelgate/platform/clock';

/** A worker may let a batch rest for this long at most. */
const RETURN_MS_MAX = 60_000;
/** The files of an account that all workers read, or write, at once: others find a worker for theirs. */
const FILES_PER_ACCOUNT_MAX = 2;
const PHASES = { read: 'reading', write: 'writing' } as const;

export interface LeasedBatch {
  readonly batch: Batch;
  readonly lease: BatchLease;
  readonly work: 'read' | 'write';
}

/** Leases a batch that is ready to write its files, or else a batch with a file to be read. */
export async function leaseBatch(deps: BatchDeps): Promise<LeasedBatch | undefined> {
  const { batches, clock, newId, limits } = deps;
  for (const work of ['write', 'read'] as const) {
    const now = clock.now();
    const lease = newId('lease');
    const taking = {
      phase: PHASES[work],
      lease,
      now,
      until: now + limits.leaseMs,
      limit: 1,
      perAccountMax: FILES_PER_ACCOUNT_MAX,
    };
    const [batch] = await batches.leaseBatches(taking);
    if (batch !== undefined) return { batch, lease: { batchId: batch.id, lease }, work };
  }
  return undefined;
}

/** Stores lines of the file. Returns false if the reader must stop. */
export function appendLines(
  { batches, clock, limits }: BatchDeps,
  lease: BatchLease,
  lines: readonly NewBatchLine[],
): Promise<boolean> {
  return batches.appendLines(lease, lines, clock.now() + limits.leaseMs);
}

/** Ends the reading of a file. With faults the batch fails. */
export async function finishRead(
  { batches, clock, wake, log }: BatchDeps,
  lease: BatchLease,
  read: { readonly model: string; readonly faults: readonly BatchFault[] },
): Promise<boolean> {
  const isFinished = await batches.finishRead(lease, { ...read, at: clock.now() });
  if (!isFinished) return false;
  log.info({ batchId: lease.batchId, faults: read.faults.length }, 'the file of a batch was read');
  if (read.faults.length > 0) wake.events();
  else wake.batches();
  return true;
}

/** Lists ended lines. Returns undefined if the writer must stop. */
export function listEndedLines(
  { batches, clock, limits }: BatchDeps,
  lease: BatchLease,
  page: { readonly after: number; readonly limit: number; readonly withTask: boolean },
): Promise<readonly EndedLine[] | undefined> {
  return batches.listEndedLines(lease, { ...page, until: clock.now() + limits.leaseMs });
}

/** Ends a batch with written files, once. */
export async function finishBatch(
  deps: BatchDeps,
  lease: BatchLease,
  files: { readonly outputFileId: string | undefined; readonly errorFileId: string | undefined },
): Promise<boolean> {
  const { batches, clock, wake, log } = deps;
  await countCharges(deps, lease, 'writing');
  const isFinished = await batches.finishBatch(lease, files, clock.now());
  if (!isFinished) return false;
  log.info({ batchId: lease.batchId }, 'a batch has ended');
  wake.events();
  return true;
}

export function returnBatch({ batches, clock }: BatchDeps, lease: BatchLease, delayMs: number): Promise<boolean> {
  return batches.returnBatch(lease, clock.now() + Math.min(Math.max(delayMs, 0), RETURN_MS_MAX));
}

/** The lines that billing is asked about with one call. */
const CHARGES_MAX = 100;
/** The calls of one pass. */
const CALLS_MAX = 10;
const DEADLINE_MS = 2000;

/**
 * Adds the charges of ended lines of a batch to its sum, each once, as soon as their money is settled. Without an
 * answer of billing the next pass counts them. A line that waits for a person holds no other line up.
 */
export async function countCharges(
  { batches, charges, clock, limits, log }: BatchDeps,
  lease: BatchLease,
  phase: 'running' | 'writing',
): Promise<void> {
  let after = 0;
  for (let calls = 0; calls < CALLS_MAX; calls += 1) {
    const open = await batches.listUncharged(lease.batchId, after, CHARGES_MAX);
    if (open.length === 0) return;
    after = open.at(-1)?.number ?? after;
    const ids = open.map(({ workId }) => workId);
    const found = await withTimeout(clock, { ms: DEADLINE_MS }, (signal) =>
      charges.listFinalCharges(ids, { signal }),
    ).catch((error: unknown) => {
      log.warn({ batchId: lease.batchId, err: error }, 'billing did not say what lines of a batch were charged');
      return undefined;
    });
    if (found === undefined) return;
    const [first] = found.values();
    if (first === undefined) continue;
    const lines = open.flatMap(({ number, workId }) => {
      const charge = found.get(workId);
      return charge === undefined ? [] : [{ number, nanos: charge.nanos }];
    });
    const isHeld = await batches.addCharges(
      lease,
      phase,
      { lines, currency: first.currency },
      clock.now() + limits.leaseMs,
    );
    if (!isHeld) return;
  }
}

import type { BatchCall } from '@reelgate/proto/tasks/v1/batch';
import type { Batch, BatchFault, BatchOrigin, BatchOutcome, BatchPhase } from '../domain/batch.ts';
import type { Order } from '../domain/order.ts';
import type { Task } from '../domain/task.ts';
import type { Job } from './job-store.ts';

/** A batch and the lease under which a worker has it. A name is never used twice. */
export interface BatchLease {
  readonly batchId: string;
  readonly lease: string;
}

export interface NewBatch extends BatchOrigin {
  readonly idempotency?: { readonly key: string; readonly fingerprint: string; readonly expiresAt: number } | undefined;
}

/** The order of a task, or a call that is sent later. */
export type LineWork = OrderWork | BatchCall;

export interface OrderWork {
  readonly order: Order;
  /** The client's names for fields of the order, where they differ. */
  readonly names?: Readonly<Record<string, string>>;
}

/** A line as the reader of its file understood it. */
export interface NewBatchLine {
  /** From 1, as in the file. */
  readonly number: number;
  readonly customId: string;
  readonly body: LineWork | { readonly fault: BatchFault };
}

/** A line without a task or a job: its create may have begun if it is `starting`. */
export interface OpenLine {
  readonly number: number;
  readonly state: 'pending' | 'starting';
  readonly work: LineWork;
  /** Its part of the bound of the batch, once it is `starting`. */
  readonly nanos: bigint;
}

/**
 * A line that has ended. A line with a failed call has its job and a fault. If task, job and fault are absent, its task
 * or its answer is no longer kept.
 */
export interface EndedLine {
  readonly number: number;
  readonly customId: string;
  readonly task: Task | undefined;
  readonly job: Job | undefined;
  readonly fault: BatchFault | undefined;
}

export interface BatchCreateStore {
  /** Returns `full` if the account has `openMax` batches that have not ended or still have lines. */
  createBatch(batch: NewBatch, openMax: number): Promise<'created' | 'key_taken' | 'full'>;
  /** Counts the batches of an account that have ended and are still kept. */
  countEnded(accountId: string): Promise<number>;
  findBatch(batchId: string): Promise<Batch | undefined>;
  /** The newest first. */
  listBatches(
    accountId: string,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<Batch[]>;
  /** Decides that a batch is cancelled, unless its end is decided already. */
  cancelBatch(batchId: string, at: number): Promise<boolean>;
}

/** The batches that a worker takes. */
export interface BatchTaking {
  readonly phase: 'reading' | 'running' | 'writing';
  readonly lease: string;
  readonly now: number;
  readonly until: number;
  readonly limit: number;
  /** The most batches of an account that all workers have at once; `limit` by default. */
  readonly perAccountMax?: number;
}

/** The work of a batch that a worker leases. */
export interface BatchLeases {
  /**
   * Takes batches of a phase that are due, of the accounts in turns and the oldest of each first. No other worker gets
   * them before `until`.
   */
  leaseBatches(taking: BatchTaking): Promise<Batch[]>;
  /** The time at which a batch of a phase is due next, undefined if no batch is in it. */
  findNextDue(phase: 'reading' | 'running' | 'writing'): Promise<number | undefined>;
  /** Ends every lease. Returns how many it ended. */
  endLeases(now: number): Promise<number>;
  /** Lets a batch be leased again at a time. Returns whether the lease was held. */
  returnBatch(lease: BatchLease, dueAt: number): Promise<boolean>;
}

/** Each write extends the lease to `until`. If the lease is not held, it does not write and returns false. */
export interface BatchReadStore {
  /** Adds lines; a line with an existing number stays as it is. */
  appendLines(lease: BatchLease, lines: readonly NewBatchLine[], until: number): Promise<boolean>;
  /** With faults the batch ends as failed. */
  finishRead(
    lease: BatchLease,
    read: { readonly model: string; readonly faults: readonly BatchFault[]; readonly at: number },
  ): Promise<boolean>;
  /** Ends the reading of files that are not read when their batch expires. */
  endLateReads(now: number): Promise<number>;
}

/** The result of the create of a line. The id is the id of its task or of its job. */
export interface StartedLine {
  readonly number: number;
  readonly end: { readonly taskId: string } | { readonly fault: BatchFault };
}

/** The decision that a batch begins no line any more. */
export interface BatchStop {
  readonly outcome: Extract<BatchOutcome, 'expired' | 'cancelled'>;
  /** The reason that each line without a task gets. */
  readonly fault: BatchFault;
}

/** The way of lines to tasks. A write under a lost lease has no effect. */
export interface BatchStartStore {
  /** The lines that are `starting`, then those that are `pending`, in their order: as many as `inFlightMax` leaves. */
  listOpenLines(batchId: string, inFlightMax: number, limit: number): Promise<readonly OpenLine[]>;
  /**
   * Records that creates may begin. A line that would cost more than the bound of the batch leaves ends with a fault.
   * Returns the numbers of those that may begin.
   */
  startLines(
    lease: BatchLease,
    lines: readonly { readonly number: number; readonly nanos: bigint }[],
    until: number,
  ): Promise<readonly number[]>;
  recordStarts(lease: BatchLease, started: readonly StartedLine[], until: number): Promise<boolean>;
  /** The tasks of lines that have not ended and wait for a channel or for their upstream to begin. */
  listQueuedTasks(batchId: string, limit: number): Promise<string[]>;
}

/** The lines of a batch that begins no line any more. */
export interface BatchCloseStore {
  /** Ends lines that are `pending`, at most `limit`. Returns how many. */
  closePending(lease: BatchLease, stop: BatchStop, limit: number, until: number): Promise<number>;
  /**
   * Decides over lines that are `starting`: a line with a task runs, and any other ends, with its key taken so that no
   * create of it can begin later. Returns how many.
   */
  closeStarting(
    lease: BatchLease,
    stop: BatchStop,
    at: { readonly now: number; readonly until: number },
  ): Promise<number>;
}

/** The ends of lines. */
export interface BatchEndStore {
  /** Ends lines with an ended task, at most `limit`. Returns how many. */
  endLines(lease: BatchLease, limit: number, until: number): Promise<number>;
  /** Ends lines with a task of unknown outcome, at most `limit`. Their money stays held. Returns how many. */
  endUnknown(lease: BatchLease, fault: BatchFault, limit: number, until: number): Promise<number>;
  /** Moves a batch with ended lines alone to the writing of its files. */
  finishRun(lease: BatchLease, at: number): Promise<boolean>;
}

export interface BatchRunStore extends BatchStartStore, BatchCloseStore, BatchEndStore {}

/** The charge of the work of an ended line, in billionths. */
export interface LineCharge {
  readonly number: number;
  readonly nanos: bigint;
}

/** The sum of the charges of a batch. Each line counts once. */
export interface BatchChargeStore {
  /** The ended lines after a number with an uncounted charge, with the ids of their tasks or jobs. */
  listUncharged(
    batchId: string,
    after: number,
    limit: number,
  ): Promise<readonly { readonly number: number; readonly workId: string }[]>;
  /** Adds charges of lines to their batch, in the currency of its account, while the lease is held in this phase. */
  addCharges(
    lease: BatchLease,
    phase: Extract<BatchPhase, 'running' | 'writing'>,
    charged: { readonly lines: readonly LineCharge[]; readonly currency: string },
    until: number,
  ): Promise<boolean>;
}

export interface BatchWriteStore {
  /** The ended lines with or without a task after a number. Undefined if the lease is not held. */
  listEndedLines(
    lease: BatchLease,
    page: { readonly after: number; readonly limit: number; readonly withTask: boolean; readonly until: number },
  ): Promise<EndedLine[] | undefined>;
  finishBatch(
    lease: BatchLease,
    files: { readonly outputFileId?: string | undefined; readonly errorFileId?: string | undefined },
    at: number,
  ): Promise<boolean>;
}

export interface BatchRetentionStore {
  /**
   * Removes lines of a batch that has ended: its files have the parts that a client may read. Before, it passes the
   * private objects of the calls that never became jobs to `removeObjects`. Returns how many rows it changed; 0 if
   * every batch that has ended is without lines.
   */
  removeEndedLines(limit: number, removeObjects?: (objects: readonly string[]) => Promise<void>): Promise<number>;
  /** Removes lines of batches that ended before a time, then the batches. Returns how many rows. */
  removeOldBatches(old: { readonly before: number; readonly limit: number }): Promise<number>;
}

/** The batches in a phase that have not ended, with their lines that have not. */
export interface BatchBacklog {
  readonly phase: BatchPhase;
  readonly count: number;
  readonly oldestAt: number;
  readonly openLines: number;
}

export interface OpenBatchReader {
  countOpen(): Promise<readonly BatchBacklog[]>;
}

export interface BatchStore
  extends
    BatchCreateStore,
    BatchLeases,
    BatchReadStore,
    BatchRunStore,
    BatchChargeStore,
    BatchWriteStore,
    BatchRetentionStore,
    OpenBatchReader {}

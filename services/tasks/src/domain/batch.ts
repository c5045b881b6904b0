import type { Annotations } from './annotations.ts';
import type { EveryMember } from './every-member.ts';

/** `reading`: its file. `running`: its lines become tasks. `writing`: the files of its results. */
export type BatchPhase = 'reading' | 'running' | 'writing' | 'ended';
export type BatchOutcome = 'completed' | 'failed' | 'expired' | 'cancelled';

/** A reason for which a file is refused, or a line has no task. Safe to show to the owner. */
export interface BatchFault {
  readonly code: string;
  readonly message: string;
  /** From 1. Absent if the fault is not about one line. */
  readonly line?: number | undefined;
  readonly param?: string | undefined;
}

/** The members that a batch has from its create on. Its annotations are those of the tasks and calls of its lines. */
export interface BatchOrigin extends EveryMember<Annotations> {
  readonly id: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly requestId: string | undefined;
  /** The path of the route that its lines call. */
  readonly endpoint: string;
  readonly inputFileId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly outputExpiresAfterMs: number | undefined;
  /**
   * The bound of the money that its lines may hold and be charged together, in billionths. Undefined if there is no
   * bound.
   */
  readonly maxNanos: bigint | undefined;
  readonly createdAt: number;
  /** From then on no line begins. */
  readonly expiresAt: number;
}

export interface Batch extends BatchOrigin {
  readonly phase: BatchPhase;
  /** Its end, from the time at which that is decided. */
  readonly outcome: BatchOutcome | undefined;
  readonly model: string | undefined;
  /** The lines that were read, the lines with a completed task, and the lines that ended without a result. */
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  /** The counted charges of its ended lines, in billionths. */
  readonly chargedNanos: bigint;
  /** Undefined until a line is counted. */
  readonly currency: string | undefined;
  /** The lines with unsettled money when the batch ended. */
  readonly uncharged: number;
  readonly faults: readonly BatchFault[] | undefined;
  readonly outputFileId: string | undefined;
  readonly errorFileId: string | undefined;
  readonly runningAt: number | undefined;
  readonly writingAt: number | undefined;
  readonly cancellingAt: number | undefined;
  readonly endedAt: number | undefined;
}

/** The lines that a file may have. */
export const BATCH_LINES_MAX = 50_000;
/** The most faults of a file that are reported. */
export const BATCH_FAULTS_MAX = 20;

/**
 * The lifetime of the key of a line, which is longer than the batch: no process that was away for its whole time creates
 * a line again, or one that was closed.
 */
export const LINE_KEY_MS = 8 * 24 * 3_600_000;

/**
 * Names the create of a line, so that repeats create one task. The key of a client has no space, so it is never the
 * same.
 */
export function nameLineKey(batchId: string, line: number): string {
  return `batch ${batchId}:${line}`;
}

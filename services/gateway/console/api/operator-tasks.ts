import type { Money } from './money.ts';
import type { TaskView } from './task.ts';
import type { HistoryEntry } from '../../src/domain/operator-records.ts';

export type { HistoryEntry } from '../../src/domain/operator-records.ts';

export interface AttemptRow {
  readonly number: number;
  readonly channel: string;
  readonly upstreamId: string;
  readonly outcome: string;
  readonly error: string;
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** Seconds, images and tokens as an upstream counts them. What it did not report is absent. */
export type ReportedUsage = Readonly<
  Partial<
    Record<
      | 'totalSeconds'
      | 'inputSeconds'
      | 'outputSeconds'
      | 'inputImageCount'
      | 'inputAudioSeconds'
      | 'totalTokens'
      | 'promptTokens'
      | 'completionTokens',
      number
    >
  >
>;

/** The cost of work at its upstream, and who says so. */
export interface UpstreamCost extends Money {
  readonly source: 'reported' | 'estimated';
}

/** GET /tasks/{taskId} on the operator port. */
export interface OperatorTaskView extends Omit<
  TaskView,
  'sameCall' | 'canCancel' | 'canRegenerate' | 'task' | 'video'
> {
  readonly task: TaskView['task'] & {
    readonly accountId: string;
    readonly channel: string;
    readonly upstreamId: string;
    readonly upstreamStatus: string;
    readonly admission: string;
    readonly nextPollAt?: number;
    readonly pollErrors: number;
    readonly traceId: string;
  };
  /** The facts of the video. An operator does not see the video of a client. */
  readonly video?: Omit<NonNullable<TaskView['video']>, 'src' | 'thumbnail' | 'download'>;
  readonly attempts: readonly AttemptRow[];
  readonly history: readonly HistoryEntry[];
  /** The report of the upstream at the end of the work; undefined before it. */
  readonly usage?: ReportedUsage;
  /** The cost at the upstream; undefined if it is not known. */
  readonly upstreamCost?: UpstreamCost;
  /** True if the task waits for a decision. */
  readonly isInAttention: boolean;
}

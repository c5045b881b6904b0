import type { RpcAnswer } from './calls.ts';
import type { Money } from './money.ts';
import type { TaskView } from './task.ts';
/** The private facts of a task as their contract has them: where it runs, its attempts and its history. */
export type TaskRecord = Omit<NonNullable<RpcAnswer<'tasks.OperatorService/ShowTask'>['record']>, 'task'>;

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
  readonly task: TaskView['task'] & { readonly accountId: string };
  readonly record: TaskRecord;
  /** The facts of the video. An operator does not see the video of a client. */
  readonly video?: Omit<NonNullable<TaskView['video']>, 'src' | 'thumbnail' | 'download'>;
  /** The report of the upstream at the end of the work; undefined before it. */
  readonly usage?: ReportedUsage;
  /** The cost at the upstream; undefined if it is not known. */
  readonly upstreamCost?: UpstreamCost;
  /** True if the task waits for a decision. */
  readonly isInAttention: boolean;
}

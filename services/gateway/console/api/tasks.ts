import type { Charge } from './money.ts';

export type State = 'queued' | 'in_progress' | 'completed' | 'failed';
export type Kind = 'generation' | 'regeneration' | 'context_ir';

/** The end of a task that failed. */
export interface TaskFailure {
  readonly code: string;
  readonly message: string;
  /** The party at fault: the order, the generator or this service. Undefined if it is not known. */
  readonly cause?: 'order' | 'upstream' | 'service';
}

/** A task in a list. */
export interface TaskRow {
  readonly id: string;
  readonly kind: Kind;
  readonly model: string;
  readonly state: State;
  /** Percent. */
  readonly progress: number;
  /** The beginning of the prompt, at most 120 characters. */
  readonly prompt: string;
  readonly seconds: number;
  readonly resolution: string;
  readonly ratio: string;
  /** The client's label for its own accounting, or undefined. */
  readonly label?: string;
  readonly createdAt: number;
  /** Undefined until the task ends. */
  readonly endedAt?: number;
  /** The address of a thumbnail of the video, or undefined. */
  readonly thumbnail?: string;
  readonly failure?: TaskFailure;
  readonly charge?: Charge;
}

/**
 * GET /tasks. Query: `TASK_FILTERS` and `after`. A state can also be `running`. Times are dates or Unix seconds, in
 * milliseconds when given as `1795…` with 13 digits. `find` is a task id, an own idempotency key, or words of the prompt.
 */
export interface TaskList {
  readonly tasks: readonly TaskRow[];
  /** The cursor of the next page, undefined on the last page. */
  readonly after?: string;
  /**
   * The time back to which this answer has searched, set if it found fewer rows than fit on a page and older tasks
   * remain; the next page searches on.
   */
  readonly searchedTo?: number;
  /** The number of tasks that match; only on the first page. `isLeast`: there may be more. */
  readonly total?: { readonly count: number; readonly isLeast: boolean };
  /** The tokens that the visitor may see, for the filter; if they cannot be read, its own one. */
  readonly tokens: readonly { readonly id: string; readonly name: string }[];
  /** The models that the token may use, for the filter. */
  readonly models: readonly string[];
}

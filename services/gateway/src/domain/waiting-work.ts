export type QueueClass = 'interactive' | 'standard' | 'batch';

/** The reason why the next task of a lane or of an account has no turn now. */
export type WaitReason =
  | 'behind_others'
  | 'channel_limit'
  | 'channel_down'
  | 'channel_paused'
  | 'no_channel'
  | 'own_limit'
  | 'behind_own_tasks'
  | 'class'
  | 'held'
  | 'scheduled';

interface WaitingTasks {
  /** Empty, without a class: the tasks that wait for their time. */
  readonly model: string;
  readonly kind?: string | undefined;
  readonly class?: QueueClass | undefined;
  readonly waiting: number;
  readonly oldestAt: number;
  readonly isHeld: boolean;
  /** Undefined if this release does not know the word. */
  readonly reason?: WaitReason | undefined;
}

/** Tasks that the same channels can do. */
export interface WaitingLane extends WaitingTasks {
  readonly turnsPerMinute: number;
  readonly channels: readonly { readonly id: string; readonly inFlight: number; readonly inFlightMax: number }[];
}

export interface WaitingAccount extends WaitingTasks {
  readonly accountId: string;
  readonly weight: number;
  /** From 0 to 1, of the turns of its lane. */
  readonly share: number;
}

/** The tasks that wait for a channel. */
export interface WaitingWork {
  readonly lanes: readonly WaitingLane[];
  readonly accounts: readonly WaitingAccount[];
  readonly hasMore: boolean;
  readonly total: number;
  readonly totalMax: number;
}

/** The place of a task that waits. */
export interface QueuedPlace {
  /** The number of tasks of its own token before it. */
  readonly position: number;
  readonly class?: QueueClass | undefined;
  readonly reason?: WaitReason | undefined;
  /** Without a turn until then it fails. */
  readonly startBy: number;
  /** Undefined if it is not known. */
  readonly estimatedStartAt?: number | undefined;
}

export type WaitingChange = 'weight' | 'hold' | 'release' | 'cancel';

/** A hold and a release name an account or a model, a weight and a cancel an account. */
export interface WaitingChangeRequest {
  readonly accountId?: string;
  readonly model?: string;
  readonly weight?: number;
  readonly reason: string;
}

/** The answer to a cancel; to other changes {}. */
export interface WaitingChangeAnswer {
  readonly cancelled?: number;
  readonly hasMore?: boolean;
}

import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { Tracing } from '@reelgate/platform/trace/trace';
import type { CallbackVerdict } from '../channels/channel.ts';
import type { ChannelRegistry } from '../channels/channel-registry.ts';
import type { Billing } from '../clients/billing.ts';
import type { Media } from '../clients/media.ts';
import type { Cause } from '../domain/failure-cause.ts';
import type { QueueClass } from '../domain/lane.ts';
import type { Model } from '../domain/model.ts';
import type { PollPlan } from '../domain/poll-interval.ts';
import type { Task, TaskInState } from '../domain/task.ts';
import type { Claim } from '../store/queue-store.ts';
import type { Finish, PhaseTimes } from '../store/finish.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { KnownLanes } from './lanes/known-lanes.ts';
import type { LaneMeter } from './lanes/lane-rates.ts';

/** The dependencies of the plan of an attempt. */
export interface PlanDeps {
  readonly models: () => ReadonlyMap<string, Model>;
  /** The URL under which a channel reads a staged media item. */
  readonly mediaUrl: MediaUrl;
  readonly callbacks: CallbackUrls;
}

/** The dependencies of reads of tasks. */
export interface StoreDeps {
  readonly store: TaskStore;
}

/** The dependencies of the operations. What a reload can change is a function, called for each use. */
export interface Deps extends PlanDeps, StoreDeps {
  readonly billing: Billing;
  readonly media: Media;
  readonly channels: ChannelRegistry;
  /** Maps an account to the upstream accounts with files that it may use. */
  readonly grants: () => ReadonlyMap<string, readonly string[]>;
  readonly clock: Clock;
  readonly newId: NewId;
  /** A random number from 0 to 1, exclusive. */
  readonly chance: () => number;
  readonly log: Log;
  readonly tracing: Tracing;
  /** Marks the rows that this process works on. */
  readonly processId: string;
  /**
   * The creates that this process works on, or that it gave up and could not refuse yet. Any other row of its own is
   * over.
   */
  readonly creating: Map<string, 'working' | 'given_up'>;
  readonly limits: Limits;
  readonly queue: QueueView;
  readonly pollPlan: PollPlan;
  /** Receivers as `host:port` that need neither https nor a public host. */
  readonly webhookAllow: ReadonlySet<string>;
  /** Notifies the subscribers that a task has changed, with the trace that their work belongs to. */
  readonly announce: (task: TaskInState) => void;
  /** Reports whether the database is so far behind that a new create would wait long at each of its steps. */
  readonly isOverloaded: () => boolean;
  /** False while another process may take this process for dead: its new leases would then stay leased. */
  readonly isKnownAlive: () => boolean;
  /** False once the clocks of live processes were seen to differ, or the clock of this process to be set. */
  readonly areClocksTrusted: () => boolean;
  readonly wake: {
    readonly outbox: () => void;
    /** The dispatch of events. */
    readonly events: () => void;
    readonly polls: (channelId: string) => void;
    /** A task began to wait for a channel, or one of a token left a channel. */
    readonly queue: (tokenId?: string) => void;
    /** Lines of a batch are to become tasks, or to be closed. */
    readonly batches: () => void;
  };
  readonly count: Counts;
}

export interface Limits {
  readonly inFlightPerToken: number;
  readonly inFlightTotal: number;
}

/** The tasks that wait for a channel, as far as this process knows. */
export interface QueueView {
  /** Undefined if the queue is off: no create waits, and a create that finds every channel full is refused. */
  readonly limits: QueueLimits | undefined;
  /** A create of such a lane does not overtake its tasks. */
  readonly lanes: KnownLanes;
  readonly rates: LaneMeter;
}

export interface QueueLimits {
  readonly perAccount: number;
  readonly total: number;
  /** The time in milliseconds after which a task that waits fails. */
  readonly longestWaitMs: Readonly<Record<QueueClass, number>>;
}

/** Makes a URL of a staged media item that only this channel receives. */
export type MediaUrl = (
  staged: { readonly object: string; readonly mediaType: string },
  references: 'inline' | 'url',
  signal: AbortSignal,
) => Promise<string>;

/** An attempt of a task. */
export interface AttemptName {
  readonly taskId: string;
  readonly number: number;
}

/** The URLs that upstreams call. A URL carries all that is needed, so it is not stored. */
export interface CallbackUrls {
  readonly buildUrl: (attempt: AttemptName) => string;
  /** The attempt that the last part of such a URL names; undefined if it is not one of ours. */
  readonly readAttempt: (token: string) => AttemptName | undefined;
}

/** The counters of both metrics and minutes. */
export interface WorkCounts {
  /** Counts an attempt with the time of its answer and with its error, in the words of the adapter. */
  readonly attempt: (
    channel: string,
    outcome: string,
    answer: { readonly ms: number; readonly error?: string | undefined; readonly taskId: string },
  ) => void;
  /** The owner sees the task from now on. */
  readonly created: (task: Task) => void;
  readonly finished: (task: Task, finish: Finish, times: PhaseTimes) => void;
  /** Counts a poll with its delay and with its error, in the words of the adapter. */
  readonly poll: (
    channel: string,
    outcome: string,
    poll: { readonly lateMs: number; readonly error?: string | undefined; readonly taskId: string },
  ) => void;
}

/** The client names the model, which may be any text. */
export interface RefusedCreate {
  readonly model: string;
  readonly accountId: string;
}

/** The counters of minutes alone. */
export interface OutcomeCounts {
  /** No upstream took the order of a create. */
  readonly refused: () => void;
  /** A create was refused, at whichever step, and by which cause. */
  readonly refusedBy: (cause: Cause, create: RefusedCreate) => void;
  readonly settled: (tasks: number) => void;
}

/** The counters of metrics alone. */
export interface AlertCounts {
  readonly attention: (reason: string) => void;
  readonly softDeadline: () => void;
  /** Counts a callback of an upstream by its signature. */
  readonly callback: (channel: string, signature: CallbackVerdict) => void;
}

/** The counters of the queue. */
export interface QueueCounts {
  /** Counts a claim, and how long its task had waited at this time. */
  readonly claimed: (claim: Claim, at: number) => void;
  /** A create was refused that would have waited. */
  readonly notQueued: (reason: RefusedPlace) => void;
  /** A task failed that had no turn in time. */
  readonly expired: (ofClass: QueueClass) => void;
}

/** The reasons for which a create gets no place in the queue. */
export type RefusedPlace = 'queue_full' | 'would_wait_too_long';

/** The counters that operators watch. */
export interface Counts extends WorkCounts, OutcomeCounts, AlertCounts, QueueCounts {}

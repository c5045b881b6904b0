import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { ChannelRegistry } from '../channels/channel-registry.ts';
import type { Billing } from '../clients/billing.ts';
import type { Media } from '../clients/media.ts';
import type { Model } from '../domain/model.ts';
import type { PollPlan } from '../domain/poll-interval.ts';
import type { Task } from '../domain/task.ts';
import type { TaskStore } from '../store/task-store.ts';

/** What the operations of this service work with. Everything that can change while it runs is asked for each time. */
export interface Deps {
  readonly store: TaskStore;
  readonly billing: Billing;
  readonly media: Media;
  readonly channels: ChannelRegistry;
  readonly models: () => ReadonlyMap<string, Model>;
  /** Upstream accounts whose files an account may name. */
  readonly grants: () => ReadonlyMap<string, readonly string[]>;
  readonly clock: Clock;
  readonly newId: NewId;
  /** From 0 to 1, exclusive. */
  readonly chance: () => number;
  readonly log: Log;
  /** Names this process in the rows that it works on. */
  readonly processId: string;
  /** The creates of this process that go on, or that it has given up and could not refuse yet. A row of its own that is not among them is over. */
  readonly creating: Map<string, 'working' | 'given_up'>;
  readonly limits: Limits;
  readonly pollPlan: PollPlan;
  /** A staged medium as the channel reads it. */
  readonly mediaUrl: MediaUrl;
  readonly callbacks: Callbacks;
  /** Tells whoever listens that a task shows something new. */
  readonly announce: (task: Pick<Task, 'id' | 'accountId' | 'state'>) => void;
  readonly wake: { readonly outbox: () => void; readonly polls: (channelId: string) => void };
  readonly count: Counts;
}

export interface Limits {
  readonly inFlightPerToken: number;
  readonly inFlightTotal: number;
}

/** The staged medium as an address that only this channel is given. */
export type MediaUrl = (
  staged: { readonly object: string; readonly mediaType: string },
  references: 'inline' | 'url',
  signal: AbortSignal,
) => Promise<string>;

/** Which attempt of which task. */
export interface AttemptName {
  readonly taskId: string;
  readonly number: number;
}

/** The addresses at which upstreams call us. They hold everything: nothing is kept of them. */
export interface Callbacks {
  readonly urlOf: (attempt: AttemptName) => string;
  /** What the end of such an address names; undefined when it is none of ours. */
  readonly attemptOf: (token: string) => AttemptName | undefined;
}

/** The numbers that operators watch. */
export interface Counts {
  readonly attempt: (channel: string, outcome: string) => void;
  readonly finished: (kind: string, state: string) => void;
  readonly attention: (reason: string) => void;
  readonly poll: (channel: string, outcome: string) => void;
  readonly softDeadline: () => void;
}

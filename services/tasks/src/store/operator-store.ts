import type { MinuteRow } from '../domain/minute-counts.ts';

/** A change of a channel by an operator. */
export interface ChannelChange {
  readonly channel: string;
  readonly at: number;
  readonly actor: string;
  readonly reason: string;
}

/** A channel that gets no new work. */
export interface Pause extends ChannelChange {
  /** The time at which it is over by itself; undefined: an operator ends it. */
  readonly endsAt: number | undefined;
}

/** The most pauses that are read: a configuration has fewer channels. */
export const PAUSES_MAX = 1000;

export interface PauseReader {
  /** By channel, up to `PAUSES_MAX`. */
  pauses(): Promise<readonly Pause[]>;
}

export interface PauseStore extends PauseReader {
  /**
   * Pauses a channel and writes the act. A paused channel keeps its pause, and nothing is written. A pause that is over
   * ends first, with its act. Returns its pause.
   */
  pause(pause: Pause): Promise<Pause>;
  /** Resumes a paused channel and writes the act. Returns whether it was paused. */
  resume(by: ChannelChange): Promise<boolean>;
  /** Removes the pauses that are over, each with its act, and returns their channels. */
  endPauses(now: number): Promise<readonly string[]>;
}

export type Action =
  | 'channel_paused'
  | 'channel_resumed'
  | 'channel_returned'
  | 'channel_tested'
  | 'attention_resolved'
  | 'queue_weight_set'
  | 'queue_held'
  | 'queue_released'
  | 'queue_task_moved'
  | 'queue_cancelled';

/** An act of an operator before it is written. */
export interface NewAct {
  readonly at: number;
  readonly actor: string;
  readonly action: Action;
  /** The id of a channel, task, job, account or model. */
  readonly subject: string;
  /** Empty: none was given. */
  readonly reason: string;
  readonly detail?: object;
}

export interface Act extends Omit<NewAct, 'action' | 'detail'> {
  readonly id: string;
  /** A later release may write others. */
  readonly action: string;
  readonly detailJson: string;
}

export interface ActStore {
  /** Writes an act that changes nothing in this store. */
  addAct(act: NewAct): Promise<void>;
  /** The newest first. */
  acts(
    filter: { readonly subject?: string | undefined },
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly Act[]>;
  /** Removes acts from before a time, the oldest first. Returns how many were removed. */
  removeActs(before: number, limit: number): Promise<number>;
}

export interface MinuteReader {
  /** The counts of all processes since a minute, the newest first. */
  minutesSince(minute: number, limit: number): Promise<readonly MinuteRow[]>;
}

/** The counts of a process for a minute; those without a channel have an empty one. */
export interface MinuteStore extends MinuteReader {
  /** Writes the counts of a process. They replace what it wrote for the same minute and channel. */
  writeMinutes(process: string, rows: readonly MinuteRow[]): Promise<void>;
  /** Removes counts from before a minute. Returns how many were removed. */
  removeMinutes(before: number, limit: number): Promise<number>;
}

export type OperatorStore = PauseStore & ActStore & MinuteStore;

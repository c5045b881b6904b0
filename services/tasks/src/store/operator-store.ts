import type { AskedWait } from '@reelgate/platform/limits/asked-waits';
import type { Act } from '@reelgate/proto/access/v1/act';
import type { ServiceEvent } from '@reelgate/proto/access/v1/service_event';
import type { FoundWork, Note, RaisedAttention } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelFailure } from '@reelgate/proto/tasks/v1/activity';
import type { FaultRow, NewChannelFailure, MinuteRow } from '../domain/minute-counts.ts';

/** A decision of an operator, which becomes an act. */
export interface Decision {
  readonly at: number;
  readonly actor: string;
  /** Empty if no reason was given. */
  readonly reason: string;
}

/** A change of a channel by an operator. */
export interface ChannelChange extends Decision {
  readonly channel: string;
}

/** A channel that gets no new work. */
export interface Pause extends ChannelChange {
  /** The time at which it is over by itself, undefined if an operator ends it. */
  readonly endsAt: number | undefined;
}

/** The most pauses that are read: a configuration has fewer channels. */
export const PAUSES_MAX = 1000;
/** Two kinds of calls for each channel. */
export const WAITS_MAX = 2 * PAUSES_MAX;

export interface PauseReader {
  /** By channel, up to `PAUSES_MAX`. */
  pauses(): Promise<readonly Pause[]>;
}

export interface PauseStore extends PauseReader {
  /**
   * Pauses a channel and writes the act. A paused channel keeps its pause, without a write. A pause that is over ends
   * first, with its act. Returns its pause.
   */
  pause(pause: Pause): Promise<Pause>;
  /** Resumes a paused channel and writes the act. Returns whether it was paused. */
  resume(by: ChannelChange): Promise<boolean>;
  /** Removes the pauses that are over, each with its act, and returns their channels. */
  endPauses(now: number): Promise<readonly string[]>;
}

/** The waits that upstreams have asked for. */
export interface WaitStore {
  /** Writes a wait, unless a longer one is known. */
  noteWait(wait: AskedWait): Promise<void>;
  /** The waits that are not over, by channel, up to `WAITS_MAX`. */
  listWaits(now: number): Promise<readonly AskedWait[]>;
  /** Removes those that are over. */
  removeOldWaits(now: number): Promise<void>;
}

/** The most entries that are read: each channel has one for each second of a minute. */
export const CALLS_MAX = 60 * PAUSES_MAX;

/** The calls that a process of the gateway has given a channel in a second, or is about to. */
export interface ChannelCalls {
  readonly channel: string;
  /** Empty for all processes together. */
  readonly process: string;
  /** The beginning of the second. */
  readonly at: number;
  readonly count: number;
}

/** The calls of the gateway's channels. */
export interface CallStore {
  /** Writes the calls of a second, unless more are known. A power cut may take them back. */
  noteCalls(calls: ChannelCalls): Promise<void>;
  /** The calls of all processes since a time, the oldest first, up to `CALLS_MAX`. */
  listCalls(since: number): Promise<readonly ChannelCalls[]>;
  /** Removes those from before a time. */
  removeOldCalls(before: number): Promise<void>;
}

/** The words of the acts that this service records. */
export const ACTIONS = [
  'channel_paused',
  'channel_resumed',
  'channel_returned',
  'channel_tested',
  'attention_resolved',
  'queue_weight_set',
  'queue_held',
  'queue_released',
  'queue_task_moved',
  'queue_cancelled',
  'note_added',
  'note_resolved',
  'note_deleted',
] as const;

type Action = (typeof ACTIONS)[number];

/** An act of an operator before it is written. */
export interface NewAct extends Decision {
  readonly action: Action;
  /** The id of a channel, task, job, account or model. */
  readonly subject: string;
  readonly detail?: object;
}

export interface ActStore {
  /** Writes an act that changes no other row of this store. */
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
  /** Writes the counts of a process. They replace its earlier counts of the same minute and channel. */
  writeMinutes(process: string, rows: readonly MinuteRow[]): Promise<void>;
  /** Removes counts from before a minute. Returns how many were removed. */
  removeMinutes(before: number, limit: number): Promise<number>;
}

/** Reads the faults of the last hours, for people. */
export interface FaultReader {
  /** The faults of all processes since a minute, the newest first. */
  faultsSince(minute: number, limit: number): Promise<readonly FaultRow[]>;
  /** The newest first. */
  channelFailures(channel: string, limit: number): Promise<readonly ChannelFailure[]>;
}

export interface FaultStore extends FaultReader {
  /**
   * Writes the faults of a process, which replace its earlier faults of the same minute and subject, and failures of
   * channels. A known failure stays as it is.
   */
  writeFaults(process: string, faults: readonly FaultRow[], failures: readonly NewChannelFailure[]): Promise<void>;
  /** Removes faults and failures from before a time. Returns how many were removed, of the kind with more. */
  removeFaults(before: number, limit: number): Promise<number>;
}

/** The ways in which work is found. */
export type FoundBy = 'id' | 'request_id' | 'trace_id';

export interface SearchStore {
  /** The tasks and jobs of an id, of a request or of a trace, the oldest first. */
  findWork(by: FoundBy, value: string, limit: number): Promise<readonly FoundWork[]>;
}

/** An event that no operator caused, before it is written. */
export interface NewServiceEvent {
  readonly at: number;
  /** circuit_opened, circuit_closed or configuration_applied; a later release may write others. */
  readonly type: string;
  /** The id of a channel, or the service that applied a configuration; empty for the tasks service itself. */
  readonly subject: string;
}

export interface HandOverStore {
  /** Writes events. An event that another process has written for the same minute stays. */
  addServiceEvents(events: readonly NewServiceEvent[]): Promise<void>;
  /** Since a time, the newest first. */
  listServiceEvents(at: number, limit: number): Promise<readonly ServiceEvent[]>;
  /** Since a time, the newest first. */
  raisedSince(at: number, limit: number): Promise<readonly RaisedAttention[]>;
  /** The time up to which an operator has read, undefined before the first mark. */
  findMark(actor: string): Promise<number | undefined>;
  /** An earlier mark than the last one has no effect. Returns the mark. */
  putMark(actor: string, readUntil: number): Promise<number>;
  /** Removes events and marks from before a time. Returns how many events were removed. */
  removeServiceEvents(before: number, limit: number): Promise<number>;
}

/** A note of an operator for the next one, before it is written. */
export interface NewNote {
  /** The id of a channel, a task or a job. */
  readonly subject: string;
  readonly at: number;
  readonly author: string;
  readonly text: string;
}

/** The most notes of a subject. */
export const NOTES_MAX = 20;

/** The end of a note. */
export interface NoteEnd {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: 'note_resolved' | 'note_deleted';
}

export interface NoteStore {
  /** The oldest first. */
  notes(subject: string): Promise<readonly Note[]>;
  findNote(id: string): Promise<Note | undefined>;
  /**
   * Writes a note and its act. Returns undefined if the subject has the most notes. The same note again is written
   * once.
   */
  addNote(note: NewNote): Promise<Note | undefined>;
  /** Removes a note and writes the act. Returns whether it was there. */
  endNote(end: NoteEnd): Promise<boolean>;
}

export type OperatorStore = PauseStore &
  WaitStore &
  CallStore &
  ActStore &
  MinuteStore &
  FaultStore &
  SearchStore &
  HandOverStore &
  NoteStore;

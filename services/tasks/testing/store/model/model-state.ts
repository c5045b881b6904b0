import type { Task } from '../../../src/domain/task.ts';
import type { QueuePlace } from '../../../src/store/queue-store.ts';
import type { Attempt, NewAttention, KeyRecord, Note } from '../../../src/store/task-store.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A task with what the store keeps beside its members. */
export interface ModelTask extends Writable<Task> {
  owner: string | undefined;
  leaseUntil: number | undefined;
  /** The channel of the last attempt, also before an upstream has the work. */
  channel: string | undefined;
  workingAt: number | undefined;
  settledAt: number | undefined;
  settleAt: number | undefined;
  settleFailures: number;
  deletedAt: number | undefined;
  /** -1: it waits for a channel, and no deadline counts that. */
  deadlinePassed: -1 | 0 | 1 | 2;
  /** The time of its last turn. */
  beganAt: number | undefined;
  /** The counters that count it. */
  scopes: string[];
  attempts: Writable<Attempt>[];
  notes: { readonly at: number; readonly note: Note }[];
}

export interface ModelKey extends KeyRecord {
  readonly accountId: string;
  readonly key: string;
  readonly expiresAt: number;
}

export interface ModelAttention extends NewAttention {
  isOpen: boolean;
}

export interface ModelPlace extends Writable<QueuePlace> {
  isClaimed: boolean;
}

/** What an account has used of a lane. */
export interface ModelAccountFlow {
  readonly lane: string;
  readonly accountId: string;
  weight: number;
  isHeld: boolean;
  used: number;
  /** False: each of its tokens that waits was found at its limit. */
  isReady: boolean;
}

/** What a token has used of a lane. */
export interface ModelTokenFlow {
  readonly lane: string;
  readonly accountId: string;
  readonly tokenId: string;
  used: number;
  /** False: it was found at its limit. */
  isReady: boolean;
}

/** What a store holds. It is plain data, so a copy of it is another store with the same content. */
export interface ModelState {
  tasks: ModelTask[];
  keys: ModelKey[];
  attention: ModelAttention[];
  readonly processes: Map<string, number>;
  readonly clockDoubts: Set<number>;
  places: ModelPlace[];
  accountFlows: ModelAccountFlow[];
  tokenFlows: ModelTokenFlow[];
  /** The rules of the accounts that an operator made. */
  readonly rules: Map<string, { readonly weight: number; readonly isHeld: boolean }>;
  /** The ids of all tasks that were ever written. */
  readonly begun: string[];
  /** The ids of the tasks whose end is announced to other services. */
  readonly outbox: string[];
  /** The events for clients, in words. */
  readonly events: string[];
  /** The acts of persons, in words. */
  readonly acts: string[];
}

export function newModelState(): ModelState {
  return {
    ...{
      tasks: [],
      keys: [],
      attention: [],
      processes: new Map(),
      clockDoubts: new Set(),
      begun: [],
      outbox: [],
      events: [],
      acts: [],
    },
    ...{ places: [], accountFlows: [], tokenFlows: [], rules: new Map() },
  };
}

export function findTask(state: ModelState, taskId: string): ModelTask | undefined {
  return state.tasks.find(({ id }) => id === taskId);
}

export function isUnfinished({ state }: ModelTask): boolean {
  return state === 'queued' || state === 'in_progress';
}

/** Reports whether an upstream has the task or may have it, or the task waits for one. */
export function isAdmitted({ admission }: ModelTask): boolean {
  return admission === 'accepted' || admission === 'unknown' || admission === 'waiting';
}

export function isVisible(task: ModelTask): boolean {
  return isAdmitted(task) && task.deletedAt === undefined;
}

export function isWaiting(state: ModelState, taskId: string): boolean {
  return state.attention.some((item) => item.taskId === taskId && item.isOpen);
}

/** A process has given the task, which waits for a channel, its turn. */
export function isClaimed({ admission, owner }: ModelTask): boolean {
  return admission === 'waiting' && owner !== undefined;
}

export function countInFlight(state: ModelState, scope: string): number {
  return state.tasks.reduce((sum, { scopes }) => sum + scopes.filter((one) => one === scope).length, 0);
}

export function leaveScopes(task: ModelTask, scopes: readonly string[]): void {
  task.scopes = task.scopes.filter((scope) => !scopes.includes(scope));
}

/** The members that a reader of the store sees. */
export function toTask(task: ModelTask): Task {
  const { owner: _owner, leaseUntil: _lease, channel: _channel, workingAt: _working, ...shown } = task;
  const { settledAt: _settled, settleAt: _settle, settleFailures: _failures, deletedAt: _deleted, ...more } = shown;
  const { deadlinePassed: _deadline, beganAt: _began, scopes: _scopes, ...rest } = more;
  const { attempts: _attempts, notes: _notes, ...members } = rest;
  return structuredClone(members);
}

/** The task has the work at this upstream account under this id. */
export function hasWork(task: ModelTask, upstreamAccount: string, upstreamId: string): boolean {
  return task.mapping?.upstreamAccount === upstreamAccount && task.mapping.upstreamId === upstreamId;
}

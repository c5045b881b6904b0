/*
 * The words of this service. A *task* is what a caller asked for, as an *order* that never changes. An *attempt* sends
 * the order to one *channel*, an upstream with its credential. The *mapping* is the private pair of channel and upstream
 * id. A *report* is what the upstream says of its work.
 */
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { TaskState, Usage as WireUsage } from '@reelgate/proto/tasks/v1/task';
import { takeAnnotations } from './annotations.ts';
import type { Annotations } from './annotations.ts';
import type { EveryMember } from './every-member.ts';
import type { Kind, Order } from './order.ts';

export type State = EnumWord<typeof TaskState>;

/**
 * The progress of a create. `submitting` means that no upstream has accepted it yet, and `accepted` that an upstream
 * has. After `refused` no upstream did, and no client sees the task. After `unknown` the answer to a submission was
 * lost. A create that is `waiting` waits for its turn on a channel, or a process submits it at its turn.
 */
export type Admission = 'submitting' | 'accepted' | 'refused' | 'unknown' | 'waiting';

/** The private mapping of a task to the work at the upstream. */
export interface Mapping {
  readonly channel: string;
  readonly upstreamAccount: string;
  /** Absent while the outcome of the submission is unknown. */
  readonly upstreamId?: string | undefined;
}

/** The usage that the upstream reports, by the members of the contract. */
export type Usage = { readonly [M in Exclude<keyof WireUsage, '$typeName' | '$unknown'>]?: number | undefined };

/** The result of a completed task: a stored video or a prompt. */
export interface Result {
  readonly object?: string | undefined;
  readonly prompt?: string | undefined;
  readonly bytes?: number | undefined;
  readonly mediaType?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly frameRate?: number | undefined;
}

/** The reason for the failure of a task, in words for the client. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** A media item after media has fetched, checked and kept it. */
export interface StagedMedia {
  readonly object: string;
  readonly mediaType: string;
  readonly durationMs: number;
}

/** A task and its owner. */
export interface TaskIdentity {
  readonly id: string;
  readonly accountId: string;
}

/** A task in a state, as its changes are announced. */
export interface TaskInState extends TaskIdentity {
  readonly state: State;
  /** The W3C `traceparent` that its work continues. Undefined if its create was not sampled. */
  readonly trace?: string | undefined;
}

/** The members that a client sends next to its order. No upstream gets them. */
export interface BesideOrder extends Annotations {
  /** The URL that is called when the task ends. */
  readonly webhookUrl?: string | undefined;
  /** The most that the task may cost, in billionths. Undefined if there is no bound. */
  readonly maxAmountNanos?: bigint | undefined;
  /** ISO 4217: the currency that the account must have. */
  readonly currency?: string | undefined;
}

/** The members next to an order that bound its price. They are for its hold alone, which billing keeps. */
export type PriceBound = Pick<BesideOrder, 'maxAmountNanos' | 'currency'>;

/** The members that a task has from its create on, and keeps. The URL is read with the event of its end. */
export interface TaskOrigin extends TaskIdentity, Omit<BesideOrder, 'webhookUrl' | keyof PriceBound> {
  readonly tokenId: string;
  readonly order: Order;
  /** The length in whole seconds by which the task is charged. */
  readonly seconds: number;
  /** Milliseconds since 1970, like every time here. */
  readonly createdAt: number;
  /** The id of the request that created it, for log lines. */
  readonly requestId?: string | undefined;
  readonly trace?: string | undefined;
  /** The id of the span that its own span is a child of. */
  readonly traceParent?: string | undefined;
}

/** Returns the origin without any other member. */
export function takeOrigin(task: TaskOrigin): EveryMember<TaskOrigin> {
  const { id, accountId, tokenId, order, seconds, createdAt, requestId, trace, traceParent } = task;
  const annotations = takeAnnotations(task);
  return { id, accountId, tokenId, order, seconds, createdAt, requestId, trace, traceParent, ...annotations };
}

export interface Task extends TaskOrigin, TaskInState {
  readonly admission: Admission;
  /** The last status word of the upstream. Private, unless it is unrecognised. */
  readonly upstreamStatus?: string | undefined;
  /** True if the adapter does not know that word. */
  readonly unrecognised: boolean;
  readonly progress: number;
  readonly updatedAt: number;
  readonly finishedAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly mapping?: Mapping | undefined;
  /** The staged media of the order, by their index in its content. */
  readonly staged?: Readonly<Record<number, StagedMedia>> | undefined;
  readonly result?: Result | undefined;
  readonly failure?: Failure | undefined;
  readonly usage?: Usage | undefined;
  /** The charge of the upstream in millionths of a US dollar, as it reported it. No client sees it. */
  readonly upstreamCostMicroUsd?: number | undefined;
  readonly nextPollAt?: number | undefined;
  /** Failed polls since the last successful one. */
  readonly pollErrors: number;
  readonly doubt?: Doubt | undefined;
  /** Polls that left it unfinished, and how many of its polls have a span. */
  readonly polls: number;
  readonly pollSpans: number;
  /** The process that polled it last left it before the outcome of the poll was written. */
  readonly resumed: boolean;
}

/**
 * Returns a task without the texts of its owner and the results. The facts behind its money and its history stay. The
 * words of a failure can quote the prompt.
 */
export function removeContent<T extends Pick<Task, 'order' | 'result' | 'failure'>>(task: T): T {
  return {
    ...task,
    order: removeWritten(task.order),
    result: task.result === undefined ? undefined : { ...task.result, prompt: undefined },
    failure: task.failure === undefined ? undefined : { code: task.failure.code, message: 'removed by its owner' },
  };
}

/** Returns an order without the texts of its owner. */
export function removeWritten(order: Order): Order {
  const { kind, model, duration, resolution, ratio, size, sourceTaskId, aigcWatermark } = order;
  return { kind, model, duration, resolution, ratio, size, sourceTaskId, aigcWatermark, content: [] };
}

/**
 * A problem that consecutive polls reported about the work, and their number. A poll without a report does not count.
 */
export interface Doubt {
  readonly reason: 'unknown_upstream_task' | 'no_result' | 'result_unavailable';
  readonly polls: number;
}

export function isTerminal(state: State): boolean {
  return state === 'completed' || state === 'failed';
}

/**
 * The conditions by which every list and every watch of tasks can be narrowed. An absent member, and an empty list,
 * match any task.
 */
export interface TaskFilter {
  readonly accountId?: string | undefined;
  readonly states?: readonly State[] | undefined;
  readonly model?: string | undefined;
  readonly kind?: Kind | undefined;
}

type Match<T> = (wanted: NonNullable<T>, task: Task) => boolean;

const MATCHES: { readonly [F in keyof Required<TaskFilter>]: Match<TaskFilter[F]> } = {
  accountId: (wanted, task) => task.accountId === wanted,
  states: (wanted, task) => wanted.length === 0 || wanted.includes(task.state),
  model: (wanted, task) => task.order.model === wanted,
  kind: (wanted, task) => task.order.kind === wanted,
};

/** Decides for a task in memory as the store does for its rows. */
export function matchesFilter(filter: TaskFilter, task: Task): boolean {
  const matches = <F extends keyof TaskFilter>(member: F): boolean => {
    const wanted = filter[member];
    const match: Match<TaskFilter[F]> = MATCHES[member];
    return wanted === undefined || match(wanted, task);
  };
  return (Object.keys(MATCHES) as (keyof TaskFilter)[]).every(matches);
}

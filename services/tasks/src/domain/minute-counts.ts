import type { Cause } from './failure-cause.ts';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { FaultKind as WireFaultKind } from '@reelgate/proto/tasks/v1/activity';

/** The counts of a minute over all channels. */
export interface MinuteCounts {
  created: number;
  refused: number;
  refusedByClient: number;
  refusedByUpstream: number;
  refusedByUs: number;
  failedByClient: number;
  failedByUpstream: number;
  failedByUs: number;
  completed: number;
  failed: number;
  polls: number;
  latePolls: number;
  settled: number;
}

/** The counts of a channel for a minute. */
export interface ChannelCounts {
  accepted: number;
  refused: number;
  unknown: number;
  completed: number;
  failed: number;
  failedPolls: number;
  /** The number of answers to attempts within each bound of `ANSWER_MS`, and the number of later ones. */
  readonly answers: number[];
  lastError: LastError | undefined;
}

export interface LastError {
  readonly text: string;
  readonly at: number;
}

/** The counts of one process for a minute, as they are stored. Without a channel they count for all channels. */
export interface MinuteRow {
  readonly minute: number;
  readonly channel: string;
  readonly json: string;
}

export const MINUTE_MS = 60_000;
/** The most channels that are counted in a minute. */
export const CHANNELS_MAX = 512;
/** The upper bounds of the times until an upstream answers an attempt. */
const ANSWER_MS = [50, 100, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 20_000, 30_000, 60_000];

/** The counts of refused creates and of failed tasks, by their cause. */
export const REFUSED_BY = {
  client: 'refusedByClient',
  upstream: 'refusedByUpstream',
  us: 'refusedByUs',
} as const satisfies Record<Cause, keyof MinuteCounts>;
export const FAILED_BY = {
  client: 'failedByClient',
  upstream: 'failedByUpstream',
  us: 'failedByUs',
} as const satisfies Record<Cause, keyof MinuteCounts>;

export function noCounts(): MinuteCounts {
  return {
    created: 0,
    refused: 0,
    refusedByClient: 0,
    refusedByUpstream: 0,
    refusedByUs: 0,
    failedByClient: 0,
    failedByUpstream: 0,
    failedByUs: 0,
    completed: 0,
    failed: 0,
    polls: 0,
    latePolls: 0,
    settled: 0,
  };
}

export function noChannelCounts(): ChannelCounts {
  return {
    accepted: 0,
    refused: 0,
    unknown: 0,
    completed: 0,
    failed: 0,
    failedPolls: 0,
    answers: ANSWER_MS.map(() => 0).concat(0),
    lastError: undefined,
  };
}

export function floorToMinute(ms: number): number {
  return ms - (ms % MINUTE_MS);
}

/** The number of the bucket of `ANSWER_MS`. */
export function answerBucket(ms: number): number {
  const found = ANSWER_MS.findIndex((bound) => ms <= bound);
  return found === -1 ? ANSWER_MS.length : found;
}

const COUNTS = Object.keys(noCounts()) as readonly (keyof MinuteCounts)[];
const CHANNEL_COUNTS = ['accepted', 'refused', 'unknown', 'completed', 'failed', 'failedPolls'] as const;

/** A row of a process of another release may lack a count. */
export function addCounts(to: MinuteCounts, more: Partial<MinuteCounts>): void {
  for (const name of COUNTS) to[name] += more[name] ?? 0;
}

export function addChannelCounts(to: ChannelCounts, more: Partial<ChannelCounts>): void {
  for (const name of CHANNEL_COUNTS) to[name] += more[name] ?? 0;
  for (const [index, count] of (more.answers ?? []).entries()) {
    const bucket = Math.min(index, ANSWER_MS.length);
    to.answers[bucket] = (to.answers[bucket] ?? 0) + count;
  }
  if (more.lastError !== undefined && more.lastError.at >= (to.lastError?.at ?? 0)) to.lastError = more.lastError;
}

/** The time within which a part of the answers came, from 0 to 1, as if the answers of a bucket were spread evenly. */
export function answerPercentile(answers: readonly number[], part: number): number {
  const wanted = part * answers.reduce((sum, count) => sum + count, 0);
  let before = 0;
  for (const [index, count] of answers.entries()) {
    const from = ANSWER_MS[index - 1] ?? 0;
    const to = ANSWER_MS[index] ?? from;
    if (count > 0 && before + count >= wanted) return Math.round(from + ((wanted - before) / count) * (to - from));
    before += count;
  }
  return 0;
}

export type FaultKind = EnumWord<typeof WireFaultKind>;

/** Refused creates and failed tasks, by their cause. */
export type FaultCounts = Record<Cause, number>;

/** The faults of a model or an account in a minute, as one process counted them. */
export interface FaultRow {
  readonly minute: number;
  readonly kind: FaultKind;
  /** Empty for models that are not configured, or beyond the bound. */
  readonly subject: string;
  readonly json: string;
}

export type ChannelFailureKind = 'attempt' | 'poll' | 'task';

/** A failure at a channel, before it is written. */
export interface NewChannelFailure {
  readonly id: string;
  readonly channel: string;
  readonly at: number;
  readonly kind: ChannelFailureKind;
  readonly taskId: string;
  /** In the words of the adapter or the upstream. */
  readonly error: string;
}

export function noFaults(): FaultCounts {
  return { client: 0, upstream: 0, us: 0 };
}

/** A process of another release may have counted other members. */
export function addFaults(to: FaultCounts, more: Partial<FaultCounts>): void {
  to.client += more.client ?? 0;
  to.upstream += more.upstream ?? 0;
  to.us += more.us ?? 0;
}

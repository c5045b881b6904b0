import type { RpcAnswer } from './calls.ts';
import type { WaitingLane } from './operator-waiting.ts';
import type { ChannelFailureRow } from '../../src/domain/operator-records.ts';

export type { ChannelFailureRow } from '../../src/domain/operator-records.ts';

export interface ChannelRow {
  readonly id: string;
  readonly adapter: string;
  /** True if the channel serves synchronous calls. Its figures are then those of this gateway alone. */
  readonly isRelay: boolean;
  readonly upstreamAccount: string;
  readonly isEnabled: boolean;
  readonly circuit: 'closed' | 'open' | 'half_open';
  readonly inFlight: number;
  readonly inFlightMax: number;
  readonly perMinuteMax: number;
  readonly priority: number;
  readonly weight: number;
  readonly models: readonly string[];
  readonly endpoints: readonly string[];
  readonly pause?: PauseAnswer;
  /** Undefined: nothing happened in the last hour. */
  readonly hour?: ChannelHour;
}

export interface ChannelHour {
  /** Attempts by outcome, and ends. */
  readonly accepted: number;
  readonly refused: number;
  readonly unknown: number;
  readonly completed: number;
  readonly failed: number;
  readonly failedPolls: number;
  /** Attempts in each of the last 60 minutes, the oldest first. */
  readonly minutes: readonly number[];
  readonly answerMsP50?: number;
  readonly answerMsP95?: number;
  readonly lastError?: string;
  readonly lastErrorAt?: number;
}

/** GET /channels. */
export interface ChannelList {
  readonly channels: readonly ChannelRow[];
  readonly canOperate: boolean;
  readonly now: number;
}

/** POST /channels/{id}/pause {reason, forSeconds?}: the pause, which may be an earlier one. */
export interface PauseAnswer {
  readonly at: number;
  readonly actor: string;
  readonly reason: string;
  /** The time at which the channel comes back by itself; undefined: an operator resumes it. */
  readonly endsAt?: number;
}
// POST /channels/{id}/resume {reason}: answers {}.

/** POST /channels/{id}/test. */
export interface ChannelTest {
  readonly ok: boolean;
  readonly detail: string;
  readonly tookMs: number;
}

/** The times of answers of an upstream in a minute. */
export interface AnswerMinute {
  readonly at: number;
  readonly p50: number;
  readonly p95: number;
}

/** GET /channels/{id}. A part that is undefined could not be read now. */
export interface ChannelView {
  readonly channel: ChannelRow;
  /** The models that no other channel in use serves. */
  readonly onlyFor: readonly string[];
  /** The minutes of the last hour with answers, the oldest first. */
  readonly answers: readonly AnswerMinute[];
  /** Refused and lost attempts, failed polls and failed tasks in each of the last 60 minutes. */
  readonly faults: readonly number[];
  /** The last twenty within a day, the newest first. */
  readonly failures?: readonly ChannelFailureRow[];
  /** Of the last day. */
  readonly margins?: RpcAnswer<'billing.AccountService/GetMoney'>['margins'];
  /** The prices of its models now. */
  readonly contracts?: RpcAnswer<'billing.AccountService/ListPrices'>['contracts'];
  /** The lanes of the queue whose tasks it can do. */
  readonly lanes?: readonly WaitingLane[];
  readonly canOperate: boolean;
  readonly now: number;
}

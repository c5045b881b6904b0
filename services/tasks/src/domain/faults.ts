import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { FaultKind as WireFaultKind } from '@reelgate/proto/tasks/v1/activity';
import type { Cause } from './failure-cause.ts';

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

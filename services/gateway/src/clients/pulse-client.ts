import type { GetPulseResponse } from '@reelgate/proto/tasks/v1/operator_service';
import type {
  ChannelHour as WireHour,
  ChannelMinute as WireChannelMinute,
  MinuteCounts,
} from '@reelgate/proto/tasks/v1/pulse';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { toMs, emptyToUndefined } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** The counts of a minute. `at` is the start of the minute. */
export interface Minute {
  readonly at: number;
  readonly created: number;
  /** Refused creates by what caused the refusal. */
  readonly refusedByClient: number;
  readonly refusedByUpstream: number;
  readonly refusedByUs: number;
  readonly completed: number;
  /** Failed tasks by what caused the failure. */
  readonly failedByClient: number;
  readonly failedByUpstream: number;
  readonly failedByUs: number;
  readonly polls: number;
  readonly latePolls: number;
  readonly settled: number;
}

/** The counts of a channel in a minute. */
export interface ChannelMinute {
  readonly at: number;
  readonly accepted: number;
  readonly refused: number;
  readonly unknown: number;
  readonly completed: number;
  readonly failed: number;
  readonly failedPolls: number;
  /** The median time to an answer in milliseconds; undefined if there was no answer. */
  readonly answerMsP50: number | undefined;
  readonly answerMsP95: number | undefined;
}

export interface ChannelPulse {
  readonly minutes: readonly ChannelMinute[];
  /** The median time to an answer in milliseconds; undefined if there was no answer. */
  readonly answerMsP50: number | undefined;
  readonly answerMsP95: number | undefined;
  readonly lastError: string | undefined;
  readonly lastErrorAt: number | undefined;
}

/** The last hour, and what waits now. Minutes in which nothing happened are left out. */
export interface Pulse {
  /** The clock of the tasks service. */
  readonly now: number;
  readonly minutes: readonly Minute[];
  readonly channels: ReadonlyMap<string, ChannelPulse>;
  readonly unfinished: number;
  readonly pollLagMs: number;
  readonly unsettled: number;
  readonly unsettledMs: number;
  readonly attention: number;
  /** The time since which something waits for a decision; undefined if nothing waits. */
  readonly attentionSince: number | undefined;
}

export type ReadPulse = (caller: Caller) => Promise<Pulse>;

export function pulseReader({ tasks }: OperatorClients): ReadPulse {
  return async (caller) => fromWirePulse(await tasks.getPulse({}, withDeadline(caller)));
}

function fromWirePulse(pulse: GetPulseResponse): Pulse {
  return {
    now: toMs(pulse.now) ?? 0,
    minutes: pulse.minutes.map(fromWireMinute),
    channels: new Map(pulse.channels.map((hour) => [hour.channel, fromWireHour(hour)])),
    unfinished: Number(pulse.unfinished),
    pollLagMs: Number(pulse.pollLagMs),
    unsettled: Number(pulse.unsettled),
    unsettledMs: Number(pulse.unsettledMs),
    attention: Number(pulse.attention),
    attentionSince: toMs(pulse.attentionSince),
  } satisfies MessageMapping<GetPulseResponse>;
}

function fromWireMinute({ minute, ...counts }: MinuteCounts): Minute {
  return {
    at: toMs(minute) ?? 0,
    created: Number(counts.created),
    refusedByClient: Number(counts.refusedByClient),
    refusedByUpstream: Number(counts.refusedByUpstream),
    refusedByUs: Number(counts.refusedByUs),
    completed: Number(counts.completed),
    failedByClient: Number(counts.failedByClient),
    failedByUpstream: Number(counts.failedByUpstream),
    failedByUs: Number(counts.failedByUs),
    polls: Number(counts.polls),
    latePolls: Number(counts.latePolls),
    settled: Number(counts.settled),
  } satisfies MessageMapping<MinuteCounts, 'minute' | 'refused' | 'failed'>;
}

function fromWireHour({ minutes, answerMsP50, answerMsP95, lastError, lastErrorAt }: WireHour): ChannelPulse {
  return {
    minutes: minutes.map(fromWireChannelMinute),
    answerMsP50: Number(answerMsP50) || undefined,
    answerMsP95: Number(answerMsP95) || undefined,
    lastError: emptyToUndefined(lastError),
    lastErrorAt: toMs(lastErrorAt),
  } satisfies MessageMapping<WireHour, 'channel'>;
}

function fromWireChannelMinute(minute: WireChannelMinute): ChannelMinute {
  return {
    at: toMs(minute.minute) ?? 0,
    accepted: Number(minute.accepted),
    refused: Number(minute.refused),
    unknown: Number(minute.unknown),
    completed: Number(minute.completed),
    failed: Number(minute.failed),
    failedPolls: Number(minute.failedPolls),
    answerMsP50: Number(minute.answerMsP50) || undefined,
    answerMsP95: Number(minute.answerMsP95) || undefined,
  } satisfies MessageMapping<WireChannelMinute, 'minute'>;
}

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Causes, Grade, Light, LightName } from '../../../console/api/operator-now.ts';
import type { ChannelStatus, GetActivityResponse } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelMinute, MinuteCounts } from '@reelgate/proto/tasks/v1/activity';
import type { RateState, Windows } from './grade-rate.ts';
import { LONG_MINUTES, judgeRate } from './grade-rate.ts';
import { readClock, sumLastHour, lengthOfLast, sumLast } from './minute-series.ts';
import { describeStanding, findUnserved, takesOrders } from './served-models.ts';

const MINUTE_MS = 60_000;
const TENTHS_BELOW = 10;
const IDLE_NAMED_MAX = 5;

/** From these values on a light warns, or fails. */
const LIMITS = {
  /** The share of creates that upstreams or this installation refused. */
  refusedShare: { warn: 0.05, fail: 0.25 },
  /** The delay of the oldest poll that is due. */
  pollLagMs: { warn: 5000, fail: 30_000 },
  /** The share of polls that began late. */
  lateShare: { warn: 0.05, fail: 0.5 },
  /** The share of ended tasks that failed at their upstream. */
  failedShare: { warn: 0.1, fail: 0.5 },
  /** The time for which the oldest finished task waits for its settlement. */
  unsettledMs: { warn: MINUTE_MS, fail: 10 * MINUTE_MS },
  /** The time for which the first item waits for a person. */
  attentionMs: { warn: 0, fail: 60 * MINUTE_MS },
} as const;

/** The services that a create needs. The gateway refuses a create without them itself, so tasks does not count it. */
const PEERS = [
  { name: 'billing', grade: 'fail', means: 'no create can be paid' },
  { name: 'media', grade: 'warn', means: 'no create with media can be taken' },
] as const;

/** The figures from which the lights are graded. */
export interface LightInputs {
  /** Undefined if the tasks service does not answer. */
  readonly activity: GetActivityResponse | undefined;
  /** Undefined if the channels of the tasks service cannot be read. */
  readonly channels: readonly ChannelStatus[] | undefined;
  /** The services that this process does not reach. */
  readonly unreachable: ReadonlySet<string>;
}

const NAMES: readonly LightName[] = ['creates', 'polls', 'ends', 'settlements', 'channels', 'attention'];
const AWAY = 'the tasks service does not answer';

/** Grades the six lights. */
export function gradeLights({ activity, channels, unreachable }: LightInputs): readonly Light[] {
  if (activity === undefined)
    return NAMES.map((name) => ({ name, grade: 'fail', figure: '–', why: AWAY, minutes: [] }));
  return [
    gradeCreates(activity, unreachable),
    gradePolls(activity),
    gradeEnds(activity),
    gradeSettlements(activity),
    gradeChannels(activity, channels),
    gradeAttention(activity),
  ];
}

/**
 * A refusal that the client caused counts neither as a fault nor as a create, so that no flood of bad requests hides a
 * fault.
 */
function gradeCreates(activity: GetActivityResponse, unreachable: ReadonlySet<string>): Light {
  const { minutes } = activity;
  const now = readClock(activity);
  const refused = ({ refusedByUpstream, refusedByUs }: MinuteCounts): number => refusedByUpstream + refusedByUs;
  const rate = judgeRate(activity, LIMITS.refusedShare, {
    bad: refused,
    total: (minute) => minute.created + refused(minute),
    ...{ noun: 'creates', was: 'refused by upstreams or by us' },
  });
  const created = sumLast(activity, LONG_MINUTES, (minute) => minute.created);
  const rated = {
    name: 'creates',
    ...rate,
    figure: `${rateText(created / lengthOfLast(LONG_MINUTES, now))} / min`,
    causes: sumCauses(activity, 'refusedBy'),
    minutes: sumLastHour(minutes, now, (minute) => minute.created),
  } as const;
  const missing = PEERS.find(({ name, grade }) => unreachable.has(name) && pickWorst(grade, rate.grade) !== rate.grade);
  if (missing === undefined) return light(rated);
  const why = `${missing.name} cannot be reached, so ${missing.means}`;
  return light({ ...rated, grade: missing.grade, state: 'faulty', why });
}

function gradePolls(activity: GetActivityResponse): Light {
  const { minutes } = activity;
  const [now, pollLagMs] = [readClock(activity), Number(activity.pollLagMs)];
  const rate = judgeRate(activity, LIMITS.lateShare, {
    bad: ({ latePolls }) => latePolls,
    total: ({ polls }) => polls,
    ...{ noun: 'polls', was: 'more than five seconds late' },
  });
  const { bad, total } = rate.windows.long;
  const byLag = gradeValue(pollLagMs, LIMITS.pollLagMs);
  const rated = {
    name: 'polls',
    ...rate,
    figure: total === 0 ? 'none due' : `${formatPercent(1 - bad / total)} on time`,
    minutes: sumLastHour(minutes, now, ({ latePolls }) => latePolls),
  } as const;
  if (byLag === 'ok') return light(rated);
  const why = `the oldest poll that is due is ${durationText(pollLagMs)} late`;
  return light({ ...rated, grade: pickWorst(byLag, rate.grade), state: 'faulty', why });
}

/** A task that failed for its content, was cancelled, or was ended by an operator is no fault of an upstream. */
function gradeEnds(activity: GetActivityResponse): Light {
  const { minutes } = activity;
  const now = readClock(activity);
  const ended = ({ completed, failedByClient, failedByUpstream, failedByUs }: MinuteCounts): number =>
    completed + failedByClient + failedByUpstream + failedByUs;
  const rate = judgeRate(activity, LIMITS.failedShare, {
    bad: ({ failedByUpstream }) => failedByUpstream,
    total: ({ completed, failedByUpstream }) => completed + failedByUpstream,
    ...{ noun: 'tasks', was: 'failed by their upstreams' },
  });
  return light({
    name: 'ends',
    ...rate,
    figure: `${rateText(sumLast(activity, LONG_MINUTES, ended) / lengthOfLast(LONG_MINUTES, now))} / min`,
    causes: sumCauses(activity, 'failedBy'),
    minutes: sumLastHour(minutes, now, ended),
  });
}

function gradeSettlements({ minutes, unsettled, ...activity }: GetActivityResponse): Light {
  const [now, unsettledMs] = [readClock(activity), Number(activity.unsettledMs)];
  return light({
    name: 'settlements',
    grade: gradeValue(unsettledMs, LIMITS.unsettledMs),
    figure: `${unsettled} open`,
    why: `the oldest finished task has waited ${durationText(unsettledMs)} for its settlement`,
    minutes: sumLastHour(minutes, now, ({ settled }) => settled),
  });
}

/** A model that no channel serves is a fault. A channel that is merely one of several is a warning. */
function gradeChannels(
  { channels: hours, ...activity }: GetActivityResponse,
  channels: readonly ChannelStatus[] | undefined,
): Light {
  const minutes = sumLastHour(
    hours.flatMap((hour) => hour.minutes),
    readClock(activity),
    countFaults,
  );
  const shown = { name: 'channels', minutes } as const;
  if (channels === undefined)
    return { ...shown, grade: 'fail', figure: '–', why: 'the channels of the tasks service cannot be read' };
  const enabled = channels.filter(({ enabled }) => enabled);
  const idle = enabled.filter((channel) => !takesOrders(channel) || channel.circuit !== 'closed');
  const figure = `${enabled.length - idle.length} of ${enabled.length} in use`;
  const { models, groups } = findUnserved(channels);
  if (models > 0) {
    const why = models === 1 ? 'no channel serves a model' : `no channel serves ${models} models`;
    return { ...shown, grade: 'fail', figure, why, unserved: groups };
  }
  return light({ ...shown, grade: idle.length > 0 ? 'warn' : 'ok', figure, why: describeIdle(idle) });
}

function gradeAttention({ attention, attentionSince, ...activity }: GetActivityResponse): Light {
  const ageMs = attentionSince === undefined ? 0 : Math.max(0, readClock(activity) - timestampMs(attentionSince));
  return light({
    name: 'attention',
    grade: attention === 0 ? 'ok' : gradeValue(ageMs, LIMITS.attentionMs),
    figure: `${attention} waiting`,
    why: `the first has waited ${durationText(ageMs)} for a decision`,
    minutes: [],
  });
}

type Cause = 'refusedBy' | 'failedBy';

function sumCauses(activity: GetActivityResponse, cause: Cause): Causes {
  const sum = (by: 'Client' | 'Upstream' | 'Us'): number =>
    sumLast(activity, LONG_MINUTES, (minute) => minute[`${cause}${by}`]);
  return { client: sum('Client'), upstream: sum('Upstream'), us: sum('Us') };
}

interface LightGrade extends Omit<Required<Light>, 'causes' | 'unserved' | 'isRecovering'> {
  readonly causes?: Causes;
  readonly state?: RateState;
  readonly windows?: Windows;
}

/** A light that is `ok` has no reason. */
function light({ why, state, windows: _windows, ...rest }: LightGrade): Light {
  if (rest.grade === 'ok') return rest;
  return { ...rest, why, ...(state === 'recovering' ? { isRecovering: true } : {}) };
}

function gradeValue(value: number, { warn, fail }: { readonly warn: number; readonly fail: number }): Grade {
  if (value >= fail) return 'fail';
  return value >= warn ? 'warn' : 'ok';
}

function pickWorst(one: Grade, other: Grade): Grade {
  const grades: readonly Grade[] = ['ok', 'warn', 'fail'];
  return grades[Math.max(grades.indexOf(one), grades.indexOf(other))] ?? one;
}

function describeIdle(idle: readonly ChannelStatus[]): string {
  const named = idle.slice(0, IDLE_NAMED_MAX).map(describeStanding);
  const more = idle.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function countFaults({ refused, unknown, failedPolls }: ChannelMinute): number {
  return refused + unknown + failedPolls;
}

function formatPercent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

function rateText(rate: number): string {
  return rate < TENTHS_BELOW ? String(Math.round(rate * 10) / 10) : String(Math.round(rate));
}

function durationText(ms: number): string {
  const [minutes, hours] = [ms / MINUTE_MS, ms / (60 * MINUTE_MS)];
  if (minutes < 2) return `${Math.round(ms / 1000)} s`;
  return hours < 2 ? `${Math.round(minutes)} min` : `${Math.round(hours)} h`;
}

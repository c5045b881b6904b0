import type { Light } from '../../../console/api/operator-now.ts';
import type { ChannelMinute, Minute, Pulse } from '../../clients/pulse-client.ts';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
/** The minutes before this one that a rate is taken from. */
const RECENT_MINUTES = 10;

/** From these values on a light warns, or fails. */
const LIMITS = {
  /** The share of creates that no upstream took, in the recent minutes. */
  refusedShare: { warn: 0.05, fail: 0.5 },
  /** How late the oldest poll is that is due. */
  pollLagMs: { warn: 5000, fail: 30_000 },
  /** The share of polls that began late, in the recent minutes. */
  lateShare: { warn: 0.05, fail: 0.5 },
  /** How long the oldest finished task waits for its settlement. */
  unsettledMs: { warn: MINUTE_MS, fail: 10 * MINUTE_MS },
  /** How long the first item waits for a person. */
  attentionMs: { warn: 0, fail: 60 * MINUTE_MS },
} as const;

type Grade = Light['grade'];

/** What a light needs to know of a channel. */
export interface ChannelStanding {
  readonly id: string;
  readonly isEnabled: boolean;
  readonly isPaused: boolean;
  readonly circuit: 'closed' | 'open' | 'half_open';
}

/** The five lights. Undefined: the tasks service does not answer. */
export function lightsOf(pulse: Pulse | undefined, channels: readonly ChannelStanding[]): readonly Light[] {
  if (pulse === undefined) return NAMES.map((name) => ({ name, grade: 'fail', figure: '–', why: AWAY, minutes: [] }));
  return [createsOf(pulse), pollsOf(pulse), settlementsOf(pulse), channelsOf(pulse, channels), attentionOf(pulse)];
}

const NAMES = ['creates', 'polls', 'settlements', 'channels', 'attention'] as const;
const AWAY = 'the tasks service does not answer';

function createsOf({ now, minutes }: Pulse): Light {
  const [created, refused] = [recent(minutes, now, 'created'), recent(minutes, now, 'refused')];
  const share = shareOf(refused, created + refused);
  return light({
    name: 'creates',
    grade: gradeOf(share, LIMITS.refusedShare),
    figure: `${rateText(created / RECENT_MINUTES)} / min`,
    why: `${percent(share)} of the creates of the last ten minutes were refused because no upstream took them`,
    minutes: hourOf(minutes, now, ({ created: count }) => count),
  });
}

function pollsOf({ now, minutes, pollLagMs }: Pulse): Light {
  const [polls, late] = [recent(minutes, now, 'polls'), recent(minutes, now, 'latePolls')];
  const share = shareOf(late, polls);
  const byLag = gradeOf(pollLagMs, LIMITS.pollLagMs);
  const byShare = gradeOf(share, LIMITS.lateShare);
  return light({
    name: 'polls',
    grade: worst(byLag, byShare),
    figure: polls === 0 ? 'none due' : `${percent(1 - share)} on time`,
    why:
      byLag === 'ok'
        ? `${percent(share)} of the polls of the last ten minutes began more than five seconds late`
        : `the oldest poll that is due is ${durationText(pollLagMs)} late`,
    minutes: hourOf(minutes, now, ({ latePolls }) => latePolls),
  });
}

function settlementsOf({ now, minutes, unsettled, unsettledMs }: Pulse): Light {
  return light({
    name: 'settlements',
    grade: gradeOf(unsettledMs, LIMITS.unsettledMs),
    figure: `${String(unsettled)} open`,
    why: `the oldest finished task has waited ${durationText(unsettledMs)} for its settlement`,
    minutes: hourOf(minutes, now, ({ settled }) => settled),
  });
}

function channelsOf({ now, channels: hours }: Pulse, channels: readonly ChannelStanding[]): Light {
  const enabled = channels.filter(({ isEnabled }) => isEnabled);
  const idle = enabled.filter(({ isPaused, circuit }) => isPaused || circuit !== 'closed');
  const areAllIdle = enabled.length > 0 && idle.length === enabled.length;
  const faults = [...hours.values()].flatMap(({ minutes }) => minutes);
  return light({
    name: 'channels',
    grade: areAllIdle ? 'fail' : idle.length > 0 ? 'warn' : 'ok',
    figure: `${String(enabled.length - idle.length)} of ${String(enabled.length)} in use`,
    why: idle.map(standingText).join('; '),
    minutes: hourOf(faults, now, faultsOf),
  });
}

function attentionOf({ now, attention, attentionSince }: Pulse): Light {
  const ageMs = attentionSince === undefined ? 0 : Math.max(0, now - attentionSince);
  return light({
    name: 'attention',
    grade: attention === 0 ? 'ok' : gradeOf(ageMs, LIMITS.attentionMs),
    figure: `${String(attention)} waiting`,
    why: `the first has waited ${durationText(ageMs)} for a decision`,
    minutes: [],
  });
}

/** A light that is `ok` has no reason. */
function light({ why, ...rest }: Required<Light>): Light {
  return rest.grade === 'ok' ? rest : { ...rest, why };
}

function gradeOf(value: number, { warn, fail }: { readonly warn: number; readonly fail: number }): Grade {
  if (value >= fail) return 'fail';
  return value >= warn ? 'warn' : 'ok';
}

function worst(one: Grade, other: Grade): Grade {
  const grades: readonly Grade[] = ['ok', 'warn', 'fail'];
  return grades[Math.max(grades.indexOf(one), grades.indexOf(other))] ?? one;
}

function standingText({ id, isPaused, circuit }: ChannelStanding): string {
  if (isPaused) return `${id} is paused`;
  return circuit === 'open' ? `${id} gets no work, because it failed` : `${id} is being tried again`;
}

function faultsOf({ refused, unknown, failedPolls }: ChannelMinute): number {
  return refused + unknown + failedPolls;
}

/** One sum for each of the last 60 minutes, the oldest first. */
export function hourOf<M extends { readonly at: number }>(
  minutes: readonly M[],
  now: number,
  count: (minute: M) => number,
): readonly number[] {
  const last = Math.floor(now / MINUTE_MS);
  const sums = Array.from({ length: HOUR_MINUTES }, () => 0);
  for (const minute of minutes) {
    const place = HOUR_MINUTES - 1 - (last - Math.floor(minute.at / MINUTE_MS));
    if (place in sums) sums[place] = (sums[place] ?? 0) + count(minute);
  }
  return sums;
}

/** The sum of the recent minutes that are over. */
function recent(minutes: readonly Minute[], now: number, count: Exclude<keyof Minute, 'at'>): number {
  return hourOf(minutes, now, (minute) => minute[count])
    .slice(-RECENT_MINUTES - 1, -1)
    .reduce((sum, one) => sum + one, 0);
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function percent(share: number): string {
  return `${String(Math.round(share * 1000) / 10)} %`;
}

function rateText(rate: number): string {
  return rate < RECENT_MINUTES ? String(Math.round(rate * 10) / 10) : String(Math.round(rate));
}

function durationText(ms: number): string {
  const [minutes, hours] = [ms / MINUTE_MS, ms / (HOUR_MINUTES * MINUTE_MS)];
  if (minutes < 2) return `${String(Math.round(ms / 1000))} s`;
  return hours < 2 ? `${String(Math.round(minutes))} min` : `${String(Math.round(hours))} h`;
}

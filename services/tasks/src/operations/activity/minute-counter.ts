import type { Clock } from '@reelgate/platform/clock';
import { classifyFailure } from '../../domain/failure-cause.ts';
import {
  CHANNELS_MAX,
  FAILED_BY,
  MINUTE_MS,
  REFUSED_BY,
  answerBucket,
  floorToMinute,
  noChannelCounts,
  noCounts,
} from '../../domain/minute-counts.ts';
import type { ChannelCounts, MinuteCounts, MinuteRow } from '../../domain/minute-counts.ts';
import type { MinuteStore } from '../../store/operator-store.ts';
import type { OutcomeCounts, WorkCounts } from '../deps.ts';
import type { FaultCounter } from './fault-counter.ts';

/** While they cannot be written, the counts of this many minutes are kept. */
const MINUTES_MAX = 10;
const ERROR_SHOWN_MAX = 300;
const LATE_MS = 5000;
const ATTEMPT_COUNTS: ReadonlySet<string> = new Set(['accepted', 'refused', 'unknown']);

/** The counts of this process by the minute. */
export interface MinuteCounter {
  readonly count: WorkCounts & OutcomeCounts;
  /** Writes the counts that have changed. */
  write(): Promise<void>;
}

/** Returns counts that count like the given ones, and also by the minute and by failure. */
export function withMinutes<C extends WorkCounts>(
  counts: C,
  { minutes: { count }, faults: { count: faults } }: { readonly minutes: MinuteCounter; readonly faults: FaultCounter },
): C & OutcomeCounts {
  return {
    ...counts,
    refused: count.refused,
    refusedBy: (cause, create) => {
      count.refusedBy(cause, create);
      faults.refusedBy(cause, create);
    },
    settled: count.settled,
    created: (task) => {
      counts.created(task);
      count.created(task);
    },
    attempt: (channel, outcome, answer) => {
      counts.attempt(channel, outcome, answer);
      count.attempt(channel, outcome, answer);
      faults.attempt(channel, outcome, answer);
    },
    finished: (task, finish, times) => {
      counts.finished(task, finish, times);
      count.finished(task, finish, times);
      faults.finished(task, finish, times);
    },
    poll: (channel, outcome, poll) => {
      counts.poll(channel, outcome, poll);
      count.poll(channel, outcome, poll);
      faults.poll(channel, outcome, poll);
    },
  };
}

interface Minute {
  readonly minute: number;
  readonly whole: MinuteCounts;
  readonly channels: Map<string, ChannelCounts>;
  /** The channels with unwritten counts; an empty one stands for the whole. */
  readonly changed: Set<string>;
}

/** Counts in memory, so that a count costs no statement. What was not written when the process dies is lost. */
export function newMinuteCounter(clock: Clock, store: MinuteStore, processId: string): MinuteCounter {
  const minutes = new Map<number, Minute>();
  let latest: Minute | undefined;
  const current = (): Minute => {
    const minute = floorToMinute(clock.now());
    if (latest?.minute === minute) return latest;
    latest = minutes.get(minute) ?? { minute, whole: noCounts(), channels: new Map(), changed: new Set() };
    minutes.set(minute, latest);
    for (const old of minutes.keys()) if (minutes.size > MINUTES_MAX) minutes.delete(old);
    return latest;
  };
  const add = (name: keyof MinuteCounts, count = 1): void => {
    const { whole, changed } = current();
    whole[name] += count;
    changed.add('');
  };
  const ofChannel = (channel: string): ChannelCounts | undefined => {
    const { channels, changed } = current();
    const known = channels.get(channel);
    if (known === undefined && channels.size >= CHANNELS_MAX) return undefined;
    const counts = known ?? noChannelCounts();
    if (known === undefined) channels.set(channel, counts);
    changed.add(channel);
    return counts;
  };
  return {
    count: buildCounts(clock, add, ofChannel),
    write: async () => {
      const taken = [...minutes.values()].map((minute) => ({ minute, names: [...minute.changed] }));
      for (const { minute } of taken) minute.changed.clear();
      const rows = taken.flatMap(({ minute, names }) => names.map((name) => toMinuteRow(minute, name)));
      try {
        if (rows.length > 0) await store.writeMinutes(processId, rows);
      } catch (error) {
        for (const { minute, names } of taken) for (const name of names) minute.changed.add(name);
        throw error;
      }
      const over = clock.now() - 2 * MINUTE_MS;
      for (const { minute, changed } of minutes.values())
        if (minute < over && changed.size === 0) minutes.delete(minute);
    },
  };
}

function buildCounts(
  clock: Clock,
  add: (name: keyof MinuteCounts, count?: number) => void,
  ofChannel: (channel: string) => ChannelCounts | undefined,
): MinuteCounter['count'] {
  const noteError = (counts: ChannelCounts | undefined, error: string | undefined): void => {
    if (counts !== undefined && error !== undefined)
      counts.lastError = { text: error.slice(0, ERROR_SHOWN_MAX), at: clock.now() };
  };
  return {
    created: () => add('created'),
    refused: () => add('refused'),
    refusedBy: (cause) => add(REFUSED_BY[cause]),
    settled: (tasks) => add('settled', tasks),
    attempt: (channel, outcome, { ms, error }) => {
      const counts = ofChannel(channel);
      if (counts === undefined || !ATTEMPT_COUNTS.has(outcome)) return;
      counts[outcome as 'accepted' | 'refused' | 'unknown'] += 1;
      if (outcome !== 'unknown') {
        const bucket = answerBucket(ms);
        counts.answers[bucket] = (counts.answers[bucket] ?? 0) + 1;
      }
      noteError(counts, error);
    },
    finished: ({ mapping }, { state, failure, causedBy }) => {
      add(state);
      if (state === 'failed') add(FAILED_BY[causedBy ?? classifyFailure(failure?.code)]);
      const counts = mapping === undefined ? undefined : ofChannel(mapping.channel);
      if (counts !== undefined) counts[state] += 1;
    },
    poll: (channel, _outcome, { lateMs, error }) => {
      add('polls');
      if (lateMs > LATE_MS) add('latePolls');
      if (error === undefined) return;
      const counts = ofChannel(channel);
      if (counts !== undefined) counts.failedPolls += 1;
      noteError(counts, error);
    },
  };
}

function toMinuteRow({ minute, whole, channels }: Minute, channel: string): MinuteRow {
  return { minute, channel, json: JSON.stringify(channel === '' ? whole : channels.get(channel)) };
}

import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { classifyFailure } from '../../domain/failure-cause.ts';
import type { Cause } from '../../domain/failure-cause.ts';
import { noFaults, CHANNELS_MAX, floorToMinute } from '../../domain/minute-counts.ts';
import type {
  NewChannelFailure,
  ChannelFailureKind,
  FaultCounts,
  FaultKind,
  FaultRow,
} from '../../domain/minute-counts.ts';
import type { FaultStore } from '../../store/operator-store.ts';
import type { OutcomeCounts, WorkCounts } from '../deps.ts';

/** The most models, and the most accounts, that are counted apart in a minute. */
export const SUBJECTS_MAX = 200;
/** While they cannot be written, the counts of this many minutes are kept. */
const MINUTES_MAX = 10;
/** The newest failures of a channel that wait to be written. */
export const FAILURES_MAX = 20;
const ERROR_SHOWN_MAX = 300;
const FAILED_ATTEMPTS: ReadonlySet<string> = new Set(['refused', 'unconfirmed', 'unknown']);

/** Counts failures by model and by account, and keeps the last failures of each channel. */
export interface FaultCounter {
  readonly count: Pick<WorkCounts, 'attempt' | 'poll' | 'finished'> & Pick<OutcomeCounts, 'refusedBy'>;
  /** Writes the counts that have changed. */
  write(): Promise<void>;
}

export interface FaultCounterOptions {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly store: FaultStore;
  readonly processId: string;
  /** Reports whether a model is configured. Clients can name any. */
  readonly isModel: (model: string) => boolean;
}

interface CountedSubject {
  readonly minute: number;
  readonly kind: FaultKind;
  readonly subject: string;
  readonly counts: FaultCounts;
  /** Its counts are not written. */
  changed: boolean;
}

/** Counts in memory, so that a count costs no statement. What was not written when the process dies is lost. */
export function newFaultCounter({ clock, newId, store, processId, isModel }: FaultCounterOptions): FaultCounter {
  const counted = newFaultCounts();
  const failures = newLastFailures();
  const note = (channel: string, kind: ChannelFailureKind, taskId: string, error: string): void => {
    const [id, at] = [newId('fail'), clock.now()];
    failures.add({ id, channel, at, kind, taskId, error: error.slice(0, ERROR_SHOWN_MAX) });
  };
  const countFault = (model: string, accountId: string, cause: Cause): void => {
    const minute = floorToMinute(clock.now());
    counted.add(minute, 'model', isModel(model) ? model : '', cause);
    counted.add(minute, 'account', accountId, cause);
  };
  return {
    count: {
      refusedBy: (cause, { model, accountId }) => countFault(model, accountId, cause),
      attempt: (channel, outcome, { error = '', taskId }) => {
        if (FAILED_ATTEMPTS.has(outcome)) note(channel, 'attempt', taskId, error);
      },
      poll: (channel, _outcome, { error, taskId }) => {
        if (error !== undefined) note(channel, 'poll', taskId, error);
      },
      finished: ({ id, accountId, order, mapping }, { state, failure, causedBy }) => {
        if (state !== 'failed') return;
        const cause = causedBy ?? classifyFailure(failure?.code);
        countFault(order.model, accountId, cause);
        if (mapping !== undefined && cause === 'upstream')
          note(mapping.channel, 'task', id, `${failure?.code ?? ''}: ${failure?.message ?? ''}`);
      },
    },
    write: async () => {
      const rows = counted.takeChanged();
      const taken = failures.take();
      if (rows.length === 0 && taken.length === 0) return;
      try {
        await store.writeFaults(processId, rows.map(toFaultRow), taken);
      } catch (error) {
        for (const row of rows) row.changed = true;
        failures.putBack(taken);
        throw error;
      }
      counted.dropBefore(floorToMinute(clock.now()));
    },
  };
}

type CountedMinute = Record<FaultKind, Map<string, CountedSubject>>;

/** The counts of this process by minute, kind and subject. */
function newFaultCounts() {
  const minutes = new Map<number, CountedMinute>();
  const findMinute = (minute: number): CountedMinute => {
    const known = minutes.get(minute);
    if (known !== undefined) return known;
    const made: CountedMinute = { model: new Map(), account: new Map() };
    minutes.set(minute, made);
    for (const old of minutes.keys()) if (minutes.size > MINUTES_MAX) minutes.delete(old);
    return made;
  };
  return {
    add: (minute: number, kind: FaultKind, named: string, cause: Cause): void => {
      const subjects = findMinute(minute)[kind];
      const subject = subjects.has(named) || subjects.size < SUBJECTS_MAX ? named : '';
      const counted = subjects.get(subject) ?? { minute, kind, subject, counts: noFaults(), changed: true };
      counted.counts[cause] += 1;
      counted.changed = true;
      subjects.set(subject, counted);
    },
    takeChanged: (): readonly CountedSubject[] => {
      const changed = [...minutes.values()].flatMap(listCounted).filter((one) => one.changed);
      for (const one of changed) one.changed = false;
      return changed;
    },
    /** Drops the minutes before this one that are written. */
    dropBefore: (minute: number): void => {
      for (const [old, counted] of minutes)
        if (old < minute && !listCounted(counted).some(({ changed }) => changed)) minutes.delete(old);
    },
  };
}

function listCounted({ model, account }: CountedMinute): readonly CountedSubject[] {
  return [...model.values(), ...account.values()];
}

/** The newest failures of each channel that are not written. */
function newLastFailures() {
  let channels = new Map<string, readonly NewChannelFailure[]>();
  const add = (failure: NewChannelFailure): void => {
    const known = channels.get(failure.channel);
    if (known === undefined && channels.size >= CHANNELS_MAX) return;
    channels.set(failure.channel, [...(known ?? []), failure].slice(-FAILURES_MAX));
  };
  const take = (): readonly NewChannelFailure[] => {
    const taken = [...channels.values()].flat();
    channels = new Map();
    return taken;
  };
  return {
    add,
    take,
    putBack: (taken: readonly NewChannelFailure[]): void => {
      for (const failure of [...taken, ...take()]) add(failure);
    },
  };
}

function toFaultRow({ minute, kind, subject, counts }: CountedSubject): FaultRow {
  return { minute, kind, subject, json: JSON.stringify(counts) };
}

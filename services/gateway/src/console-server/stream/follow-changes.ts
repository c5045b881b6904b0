import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Topic } from '../../../console/api/stream.ts';
import type { ServiceSignals } from '../../operations/service-signals.ts';
import type { TaskChanges, Watch, Work } from '../../operations/task-changes.ts';
import type { PendingChanges } from './pending-changes.ts';

/** Announcements can be lost, so everything is read again after this time. */
const REREAD_MS = 30_000;
/** The figures of the service are written every ten seconds. */
const NOW_MS = 10_000;
/** The events of an account are dispatched at most this long after its work has changed. */
const DISPATCH_MS_MAX = 10_000;

export interface FollowParts {
  readonly changes: TaskChanges;
  readonly signals: ServiceSignals;
  readonly clock: Clock;
}

export interface StreamScope {
  readonly topics: ReadonlySet<Topic>;
  readonly pending: PendingChanges;
  /** Ends it. */
  readonly over: AbortSignal;
}

/** Notes what the pages of an account may hear of: its own work, and nothing else. */
export function followAccount(
  { changes, signals, clock }: FollowParts,
  accountId: string,
  { topics, pending, over }: StreamScope,
): void {
  const told = noteOnlyTopics(topics, pending);
  let workedAt: number | undefined;
  endTogether(over, [
    changes.watchAccount(accountId, (work) => {
      workedAt = clock.now();
      noteWork(told, work);
    }),
    signals.hear(({ of }) => {
      // the announcement names no account
      if (of === 'events_dispatched' && workedAt !== undefined && isRecent(clock, workedAt, DISPATCH_MS_MAX))
        told('webhooks');
    }),
  ]);
  noteEvery(REREAD_MS, 'all', { clock, pending, over });
}

/** Notes what operators may hear of: the work of every account, and what waits for them. */
export function followEverything(
  { changes, signals, clock }: FollowParts,
  { topics, pending, over }: StreamScope,
): void {
  const told = noteOnlyTopics(topics, pending);
  endTogether(over, [
    changes.watchAll((work) => {
      noteWork(told, work);
    }),
    signals.hear((signal) => {
      if (signal.of === 'events_dispatched') return;
      told(signal.of, signal.id);
      told('now');
    }),
  ]);
  if (topics.has('now')) noteEvery(NOW_MS, 'now', { clock, pending, over });
  noteEvery(REREAD_MS, 'all', { clock, pending, over });
}

type Note = (topic: Topic, id?: string) => void;

function noteOnlyTopics(topics: ReadonlySet<Topic>, pending: PendingChanges): Note {
  return (topic, id) => {
    if (topics.has(topic)) pending.note(topic, id);
  };
}

function noteWork(told: Note, { id, isTask }: Work): void {
  if (!isTask) return;
  told('tasks', id);
  told(`task:${id}`, id);
}

function noteEvery(
  ms: number,
  topic: 'all' | 'now',
  { clock, pending, over }: { readonly clock: Clock } & Omit<StreamScope, 'topics'>,
): void {
  const repeat = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(ms, over);
      if (over.aborted) return;
      pending.note(topic);
    }
  };
  void repeat();
}

function endTogether(over: AbortSignal, watches: readonly Watch[]): void {
  const end = (): void => {
    for (const watch of watches) watch.close();
  };
  over.addEventListener('abort', end, { once: true });
  if (over.aborted) end();
}

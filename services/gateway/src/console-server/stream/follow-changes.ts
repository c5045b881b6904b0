import { isRecent, NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Topic, Change } from '../../../console/api/stream.ts';
import type { ServiceSignals, TaskChanges, Watch, Work } from '../../operations/task-changes.ts';

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
    changes.watchAll((work) => noteWork(told, work)),
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

/** With more ids than this, a page reads everything of the topic again. */
const IDS_MAX = 100;

type ToldTopic = Change['topic'];

/** The changes that a page has not been told yet: each topic once, however often it changes. */
export interface PendingChanges {
  /** Without an id, anything of the topic may have changed. */
  note(topic: ToldTopic, id?: string): void;
  /** Everything since it was last taken. */
  take(): readonly Change[];
  /** Resolves once there is something, the time is over or the signal is aborted. */
  wait(ms: number, over: AbortSignal): Promise<void>;
}

export function pendingChanges(clock: Clock): PendingChanges {
  // undefined if they are unknown or too many
  let topics = new Map<ToldTopic, Set<string> | undefined>();
  let wakeup = new AbortController();
  return {
    note: (topic, id) => {
      topics.set(topic, withId(topics.has(topic) ? topics.get(topic) : new Set(), id));
      wakeup.abort(NOT_AWAITED);
    },
    take: () => {
      const taken = topics;
      topics = new Map();
      if (taken.has('all')) return [{ topic: 'all', ids: [] }];
      return [...taken].map(([topic, ids = new Set<string>()]) => ({ topic, ids: [...ids] }));
    },
    wait: async (ms, over) => {
      if (topics.size > 0) return;
      wakeup = new AbortController();
      await clock.sleep(ms, AbortSignal.any([wakeup.signal, over]));
    },
  };
}

function withId(ids: Set<string> | undefined, id: string | undefined): Set<string> | undefined {
  if (ids === undefined || id === undefined) return undefined;
  return ids.size < IDS_MAX || ids.has(id) ? ids.add(id) : undefined;
}

import type { Clock } from '@reelgate/platform/clock';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Change } from '../../../console/api/stream.ts';

/** With more ids than this, a page reads everything of the topic again. */
const IDS_MAX = 100;

export type ToldTopic = Change['topic'];

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

import { NOTHING_DUE } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import { newNotifier } from '../watches/feeds.ts';
import type { Notifier } from '../watches/feeds.ts';
import type { EventPlaceReader } from '../../store/webhook-store.ts';

/** Events that one read looks at. */
const EVENTS_MAX = 1000;

/** Notifies the one reader of a stream that its account has new events. */
export interface EventFeed extends Notifier {
  /** Reports whether events may have been dispatched since the last call. */
  takeNews(): boolean;
}

/**
 * Reads for all event streams of this process which accounts have new events. A stream costs no read while its account
 * has no new events.
 */
export interface EventHub {
  /** From now on the feed is notified. It begins as if it had been notified. */
  open(accountId: string): EventFeed;
  close(accountId: string, feed: EventFeed): void;
  /** Reads the new events, and wakes the streams of their accounts. Returns 0 if there was no new event. */
  pass(): Promise<PassResult>;
}

interface OpenFeed extends EventFeed {
  notifyOfNews(): void;
}

/** `wake` starts a pass at once. */
export function newEventHub(store: EventPlaceReader, wake: () => void): EventHub {
  const feeds = new Map<string, Set<OpenFeed>>();
  /** Every event up to this place has been announced. Undefined before the first read. */
  let announcedUpTo: number | undefined;
  return {
    open: (accountId) => {
      const feed = newFeed();
      const ofAccount = feeds.get(accountId) ?? new Set();
      feeds.set(accountId, ofAccount.add(feed));
      if (announcedUpTo === undefined) wake();
      return feed;
    },
    close: (accountId, feed) => {
      const ofAccount = feeds.get(accountId);
      ofAccount?.delete(feed as OpenFeed);
      if (ofAccount?.size === 0) feeds.delete(accountId);
    },
    pass: async () => {
      if (feeds.size === 0) {
        announcedUpTo = undefined;
        return NOTHING_DUE;
      }
      if (announcedUpTo === undefined) {
        announcedUpTo = await store.lastPlace();
        // A stream may have read before an event that this place covers.
        for (const ofAccount of feeds.values()) for (const feed of ofAccount) feed.notifyOfNews();
        return 0;
      }
      const places = await store.lastPlaces(announcedUpTo, EVENTS_MAX);
      announcedUpTo = Math.max(announcedUpTo, ...places.map(({ seq }) => seq));
      for (const { accountId } of places) for (const feed of feeds.get(accountId) ?? []) feed.notifyOfNews();
      return places.length;
    },
  };
}

function newFeed(): OpenFeed {
  const { notify, wait } = newNotifier();
  let hasNews = true;
  return {
    notify,
    wait,
    notifyOfNews: () => {
      hasNews = true;
      notify();
    },
    takeNews: () => {
      const had = hasNews;
      hasNews = false;
      return had;
    },
  };
}

import type { Problem } from '@reelgate/platform/problem';
import type { Event } from '@reelgate/proto/tasks/v1/webhook';
import type { EventType } from '../../domain/webhook.ts';
import type { EventPlaceReader, EventReader } from '../../store/webhook-store.ts';
import type { StreamPermits } from '../content/content-stream-permits.ts';
import type { OpenWatch, OpenWatches } from '../watches/open-watches.ts';
import { findSubjects, toWireEvent } from './event-subjects.ts';
import type { SubjectDeps } from './event-subjects.ts';
import { refuse } from '../../refusals.ts';
import { NOTHING_DUE } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import { newNotifier } from '../watches/feeds.ts';
import type { Notifier } from '../watches/feeds.ts';

const PAGE_MAX = 100;
/** The cursor before the oldest event that is kept. */
const BEGINNING = { id: 'evt_0', seq: 0 };

export interface EventWatchDeps extends SubjectDeps {
  readonly webhooks: EventPlaceReader & EventReader;
  readonly hub: EventHub;
  readonly watches: OpenWatches;
  readonly permits: StreamPermits;
}

export interface EventWatch {
  readonly accountId: string;
  /** The id of the last event that the caller has; empty for the events from now on. */
  readonly cursor: string;
  /** Undefined for all types. */
  readonly types?: readonly EventType[] | undefined;
  readonly subjectId?: string | undefined;
  readonly withSubject: boolean;
}

/** A message of an event stream. Without an event it is a heartbeat. */
export interface EventMessage {
  readonly event?: Event;
  readonly cursor: string;
}

type Position = { readonly id: string; readonly seq: number };

interface Stream extends EventWatchDeps {
  readonly wanted: EventWatch;
  readonly feed: EventFeed;
  readonly watch: OpenWatch;
  /** Everything up to here was sent, or does not match. */
  position: Position;
}

/**
 * Yields the events of an account that match, in the order of their places and without a gap, and heartbeats between
 * them. It ends only with an error; its caller resumes with the last cursor.
 */
export async function* watchEvents(
  deps: EventWatchDeps,
  wanted: EventWatch,
  signal: AbortSignal,
): AsyncGenerator<EventMessage> {
  const { hub, watches, permits } = deps;
  const { accountId, cursor } = wanted;
  const giveBack = permits.take(accountId);
  const feed = hub.open(accountId);
  const watch = watches.open('WatchEvents', feed, signal);
  try {
    const stream: Stream = { ...deps, wanted, feed, watch, position: await findStartPosition(deps, wanted) };
    if (cursor === '') yield { cursor: stream.position.id };
    for (;;) yield* streamNext(stream);
  } finally {
    watch.close();
    hub.close(accountId, feed);
    giveBack();
  }
}

async function findStartPosition({ webhooks }: EventWatchDeps, { accountId, cursor }: EventWatch): Promise<Position> {
  if (cursor === '') return (await webhooks.lastEvent(accountId)) ?? BEGINNING;
  if (cursor === BEGINNING.id) return BEGINNING;
  const seq = await webhooks.findPlace(accountId, cursor);
  if (seq === undefined) throw eventExpired();
  return { id: cursor, seq };
}

/** Yields the new events, or a heartbeat. Yields no message after a wait without either. */
async function* streamNext(stream: Stream): AsyncGenerator<EventMessage> {
  const { feed, watch } = stream;
  if (feed.takeNews()) yield* streamNews(stream);
  else if (watch.isHeartbeatDue()) {
    watch.sending();
    yield { cursor: stream.position.id };
  } else await watch.wait();
}

async function* streamNews(stream: Stream): AsyncGenerator<EventMessage> {
  const { webhooks, wanted, watch } = stream;
  const { accountId, types, subjectId } = wanted;
  const isFiltered = types !== undefined || subjectId !== undefined;
  // Read before the pages: events that are dispatched between the two reads would otherwise be skipped.
  const last = isFiltered ? await webhooks.lastEvent(accountId) : undefined;
  for (let isWhole = false; !isWhole;) {
    const page = await webhooks.eventsAfter({ accountId, types, subjectId }, stream.position.seq, PAGE_MAX);
    const subjects = wanted.withSubject ? await findSubjects(stream, page) : undefined;
    for (const event of page) {
      stream.position = event;
      watch.sending();
      yield { event: toWireEvent(event, subjects?.get(event.subjectId)), cursor: event.id };
    }
    isWhole = page.length < PAGE_MAX;
  }
  if (last !== undefined && last.seq > stream.position.seq) stream.position = last;
}

function eventExpired(): Problem {
  return refuse('event_expired', {
    field: 'cursor',
    message:
      `must be the id of an event of this account that is still kept; ` +
      `begin with ${BEGINNING.id} to read all events that are kept`,
  });
}

/** Events that one read looks at. */
const EVENTS_MAX = 1000;

/** Notifies the one reader of a stream that its account has new events. */
interface EventFeed extends Notifier {
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

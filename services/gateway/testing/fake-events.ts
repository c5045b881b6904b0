import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import type { CallContext } from '@reelgate/platform/rpc/service';
import { EventSchema } from '@reelgate/proto/tasks/v1/webhook';
import type { Event } from '@reelgate/proto/tasks/v1/webhook';
import type { WatchEventsRequest, WatchEventsResponseSchema } from '@reelgate/proto/tasks/v1/webhook_service';

type Message = MessageInitShape<typeof WatchEventsResponseSchema>;

/** The events of accounts in their order, and the streams that watch them. */
export interface FakeEvents {
  /** The streams that were opened. */
  readonly watches: WatchEventsRequest[];
  /** How many streams are open now. */
  open(): number;
  /** How many events the streams have taken. */
  taken(): number;
  /** Adds an event at the end, and returns its id. */
  add(event?: MessageInitShape<typeof EventSchema>): string;
  /** Makes every stream send where it is. */
  beat(): void;
  /** Ends every stream, as a restart of the tasks service does. */
  cut(): void;
  /** Makes each stream that is opened from now on fail; undefined: none. */
  refuse(problem: Error | undefined): void;
  watch(request: WatchEventsRequest, context: CallContext): AsyncGenerator<Message>;
}

interface Watcher {
  place: number;
  hasToBeat: boolean;
  isCut: boolean;
  wake(): void;
}

export function fakeEvents(): FakeEvents {
  const events: Event[] = [];
  const watches: WatchEventsRequest[] = [];
  const watchers = new Set<Watcher>();
  let refusal: Error | undefined;
  let taken = 0;
  const idAt = (place: number): string => events[place - 1]?.id ?? 'evt_0';
  const placeOf = (cursor: string): number => {
    if (cursor === '') return events.length;
    const place = cursor === 'evt_0' ? 0 : events.findIndex(({ id }) => id === cursor) + 1;
    if (place > 0 || cursor === 'evt_0') return place;
    throw new Problem({ kind: 'gone', reason: 'event_expired', field: 'cursor', message: 'is no longer kept' });
  };
  const matches = (event: Event, { accountId, types, subjectId }: WatchEventsRequest): boolean =>
    event.accountId === accountId &&
    (types.length === 0 || types.includes(event.type)) &&
    (subjectId === '' || subjectId === event.subjectId);
  const each = (change: (watcher: Watcher) => void): void => {
    for (const watcher of watchers) {
      change(watcher);
      watcher.wake();
    }
  };
  /** The next message for a watcher, or undefined: it has to wait. */
  const nextFor = (watcher: Watcher, request: WatchEventsRequest): Message | undefined => {
    if (watcher.isCut) throw new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'stopping' });
    for (;;) {
      const event = events[watcher.place];
      if (event === undefined) break;
      watcher.place += 1;
      if (matches(event, request)) return { event, cursor: event.id };
    }
    if (!watcher.hasToBeat) return undefined;
    watcher.hasToBeat = false;
    return { cursor: idAt(watcher.place) };
  };
  async function* watch(request: WatchEventsRequest, { signal }: CallContext): AsyncGenerator<Message> {
    watches.push(request);
    if (refusal !== undefined) throw refusal;
    const watcher: Watcher = {
      place: placeOf(request.cursor),
      hasToBeat: request.cursor === '',
      isCut: false,
      wake: () => undefined,
    };
    const stop = (): void => {
      watcher.wake();
    };
    signal.addEventListener('abort', stop);
    watchers.add(watcher);
    try {
      while (!signal.aborted) {
        const message = nextFor(watcher, request);
        if (message?.event !== undefined) taken += 1;
        if (message !== undefined) yield message;
        else
          await new Promise<void>((resolve) => {
            watcher.wake = resolve;
          });
      }
    } finally {
      watchers.delete(watcher);
      signal.removeEventListener('abort', stop);
    }
  }
  return {
    watches,
    open: () => watchers.size,
    taken: () => taken,
    add: (event = {}) => {
      const id = `evt_${events.length + 1}`;
      const defaults = { accountId: 'demo', type: 'video.completed', subjectId: `task_${events.length + 1}` };
      events.push(create(EventSchema, { id, createdAt: timestampFromMs(1_000_000), ...defaults, ...event }));
      each(() => undefined);
      return id;
    },
    beat: () => {
      each((watcher) => {
        watcher.hasToBeat = true;
      });
    },
    cut: () => {
      each((watcher) => {
        watcher.isCut = true;
      });
    },
    refuse: (problem) => {
      refusal = problem;
    },
    watch,
  };
}

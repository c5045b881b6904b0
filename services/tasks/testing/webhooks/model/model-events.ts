import type { NewId } from '@reelgate/platform/ids';
import { DEFAULT_ENDPOINT } from '../../../src/domain/webhook.ts';
import type { DispatchedEvent, EventType } from '../../../src/domain/webhook.ts';
import type { EventStore } from '../../../src/store/webhook-store.ts';
import { wakeReceiver } from './model-due-times.ts';
import { compareTexts, isHearing } from './webhooks-state.ts';
import type { ModelEvent, WebhooksState } from './webhooks-state.ts';

/** Events, their places, and their deliveries. */
export function modelEvents(state: WebhooksState, newId: NewId): EventStore {
  const listDispatched = (): readonly DispatchedEvent[] =>
    state.events
      .flatMap((event) => (event.seq === undefined ? [] : [{ ...event, seq: event.seq }]))
      .toSorted((one, other) => one.seq - other.seq);
  return {
    addEvent: async (event) => {
      state.begun.push(event.id);
      if (state.events.every(({ id }) => id !== event.id)) state.events.push({ ...event, seq: undefined });
    },
    dispatch: async ({ now, limit }) => {
      const next = listWaiting(state).slice(0, limit);
      let deliveries = 0;
      for (const event of next) {
        event.seq = state.lastPlace += 1;
        deliveries += deliver(state, event, newId, now);
      }
      return { events: next.length, deliveries };
    },
    findPlace: async (accountId, eventId) =>
      state.events.find((one) => one.id === eventId && one.accountId === accountId)?.seq,
    lastEvent: async (accountId) => listDispatched().findLast((one) => one.accountId === accountId),
    lastPlace: async () => state.lastPlace,
    lastPlaces: async (seq, limit) => {
      const newer = listDispatched().filter((one) => one.seq > seq);
      const last = new Map(newer.slice(0, limit).map((one) => [one.accountId, one.seq]));
      return [...last].map(([accountId, place]) => ({ accountId, seq: place }));
    },
    eventsAfter: async ({ accountId, types, subjectId }, seq, limit) => {
      const isMeant = (type: EventType): boolean => types === undefined || types.includes(type);
      return listDispatched()
        .filter((one) => one.accountId === accountId && one.seq > seq && isMeant(one.type))
        .filter((one) => subjectId === undefined || one.subjectId === subjectId)
        .slice(0, limit);
    },
    findEvents: async (ids) =>
      new Map(state.events.filter(({ id }) => ids.includes(id)).map(({ seq: _seq, ...event }) => [event.id, event])),
  };
}

/** The events without a place in the order in which they get theirs. */
function listWaiting({ events }: WebhooksState): readonly ModelEvent[] {
  return events
    .filter(({ seq }) => seq === undefined)
    .toSorted((one, other) => one.createdAt - other.createdAt || compareTexts(one.id, other.id));
}

/**
 * Writes a delivery for each receiver that hears the event: the endpoints of its account, and the URL it carries.
 * Returns their number.
 */
function deliver(state: WebhooksState, event: ModelEvent, newId: NewId, now: number): number {
  const { id: eventId, accountId, type, subjectId, url } = event;
  const hearing = state.endpoints
    .filter((one) => one.accountId === accountId && isHearing(one, type))
    .map(({ id }) => ({ id, endpointId: id, url: undefined as string | undefined }))
    .toSorted((one, other) => compareTexts(one.id, other.id));
  if (url !== undefined && URL.canParse(url))
    hearing.push({ id: `${accountId} ${new URL(url).origin}`, endpointId: DEFAULT_ENDPOINT, url });
  for (const { id: receiverId, endpointId, url: to } of hearing) {
    wakeReceiver(state, { id: receiverId, accountId, endpointId }, now);
    const id = newId('whd');
    // an event that was removed, and is then added again, has no second delivery
    if (state.deliveries.some((one) => one.eventId === eventId && one.receiverId === receiverId)) continue;
    state.deliveries.push({
      ...{ id, eventId, eventType: type, subjectId, receiverId, endpointId, accountId, url: to },
      ...{ state: 'pending', attempts: 0, attemptsBefore: 0, dueAt: now, hurries: 0, status: 0, error: '' },
      ...{ createdAt: now, endedAt: undefined },
    });
  }
  return hearing.length;
}

import { firstIdAt } from '@reelgate/platform/ids';
import type { Attempt, Delivery } from '../../../src/domain/webhook.ts';
import type {
  DeliveryReader,
  ResendStore,
  WebhookBacklogStore,
  WebhookRetentionStore,
} from '../../../src/store/webhook-store.ts';
import { sendAgain, wakeReceiver } from './model-due-times.ts';
import { compareTexts, findEndpoint, findReceiver, takeNewest } from './webhooks-state.ts';
import type { ModelDelivery, ModelReceiver, WebhooksState } from './webhooks-state.ts';

/** A delivery as its owner sees it: with the URL that its endpoint has now, and the time of the next attempt. */
export function showDelivery(state: WebhooksState, delivery: ModelDelivery): Delivery {
  const { hurries: _hurries, url, dueAt, ...shown } = delivery;
  const endpoint = findEndpoint(state, delivery.endpointId);
  const openUntil = findReceiver(state, delivery.receiverId)?.health.openUntil ?? 0;
  const isWaiting = dueAt !== undefined && endpoint?.disabled === undefined;
  return {
    ...shown,
    url: url ?? endpoint?.url ?? '',
    dueAt,
    nextAttemptAt: isWaiting ? Math.max(dueAt, openUntil) : undefined,
  };
}

/** Deliveries and their attempts. */
export function modelDeliveryReads(state: WebhooksState): DeliveryReader {
  const show = (one: ModelDelivery): Delivery => showDelivery(state, one);
  const listAttempts = (id: string): readonly Attempt[] =>
    state.attempts
      .filter(({ deliveryId }) => deliveryId === id)
      .map(({ deliveryId: _id, ...attempt }) => attempt)
      .toSorted((one, other) => one.number - other.number);
  return {
    findDeliveries: async (ids) =>
      new Map(state.deliveries.filter(({ id }) => ids.includes(id)).map((one) => [one.id, show(one)])),
    listDeliveries: async ({ accountId, endpointId, state: inState }, page) => {
      const meant = state.deliveries
        .filter((one) => one.accountId === accountId && one.endpointId === endpointId)
        .filter((one) => inState === undefined || one.state === inState);
      return takeNewest(meant, page).map(show);
    },
    findDelivery: async (accountId, deliveryId) =>
      state.deliveries.filter((one) => one.id === deliveryId && one.accountId === accountId).map(show)[0],
    listDeliveriesAbout: async (accountId, subjectId, limit) => {
      const events = state.events.filter((one) => one.accountId === accountId && one.subjectId === subjectId);
      const about = state.deliveries.filter(({ eventId }) => events.some(({ id }) => id === eventId));
      return takeNewest(about, { limit }).map(show);
    },
    listAttemptsByDelivery: async (ids) => new Map(ids.map((id) => [id, listAttempts(id)])),
    listAttempts: async (id) => listAttempts(id),
  };
}

/** Deliveries that are sent again. */
export function modelResends(state: WebhooksState): ResendStore {
  const resend = (delivery: ModelDelivery, dueAt: number, at: number): void => {
    const { receiverId: id, accountId, endpointId } = delivery;
    const receiver = wakeReceiver(state, { id, accountId, endpointId }, at);
    receiver.health = { ...receiver.health, openUntil: undefined };
    if (receiver.lease === undefined) receiver.dueAt = at;
    sendAgain(delivery, dueAt);
    Object.assign(delivery, { state: 'pending', endedAt: undefined });
  };
  return {
    resend: async (accountId, deliveryId, at) => {
      const found = state.deliveries.find((one) => one.id === deliveryId && one.accountId === accountId);
      if (found === undefined) return false;
      resend(found, Math.min(found.dueAt ?? at, at), at);
      return true;
    },
    resendFailed: async ({ accountId, endpointId, since, limit }, at) => {
      const failed = state.deliveries
        .filter((one) => one.accountId === accountId && one.endpointId === endpointId)
        .filter((one) => one.id >= firstIdAt('whd', since))
        .filter((one) => one.state === 'failed' || (one.dueAt ?? 0) > at)
        .toSorted((one, other) => compareTexts(one.id, other.id))
        .slice(0, limit);
      for (const one of failed) resend(one, at, at);
      return failed.length;
    },
  };
}

/** The receivers that have waited for nothing since before a time, the one that waits longest first. */
export function listIdle({ receivers }: WebhooksState, before: number): readonly ModelReceiver[] {
  return receivers
    .filter(({ dueAt, updatedAt }) => dueAt === undefined && updatedAt < before)
    .toSorted((one, other) => one.updatedAt - other.updatedAt);
}

export function modelWebhookRetention(state: WebhooksState): WebhookRetentionStore {
  return {
    removeOldWebhooks: async ({ before, limit }) => {
      const deliveries = state.deliveries
        .filter(({ id, dueAt }) => id < firstIdAt('whd', before) && dueAt === undefined)
        .toSorted((one, other) => compareTexts(one.id, other.id))
        .slice(0, limit);
      const events = state.events
        .filter(({ seq }) => seq !== undefined)
        .toSorted((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
        .slice(0, limit)
        .filter(({ createdAt }) => createdAt < before);
      const receivers = listIdle(state, before).slice(0, limit);
      state.deliveries = state.deliveries.filter((one) => !deliveries.includes(one));
      state.attempts = state.attempts.filter(({ deliveryId }) => deliveries.every(({ id }) => id !== deliveryId));
      state.events = state.events.filter((one) => !events.includes(one));
      state.receivers = state.receivers.filter((one) => !receivers.includes(one));
      return deliveries.length + events.length + receivers.length;
    },
  };
}

export function modelWebhookBacklog(state: WebhooksState): WebhookBacklogStore {
  const findFirst = (times: readonly number[]): number | undefined =>
    times.length === 0 ? undefined : Math.min(...times);
  return {
    countPendingDeliveries: async () => ({
      count: state.deliveries.filter(({ dueAt }) => dueAt !== undefined).length,
      oldestDueAt: findFirst(state.receivers.map(({ dueAt }) => dueAt).filter((at) => at !== undefined)),
    }),
    countDisabledEndpoints: async () =>
      state.endpoints.filter(({ disabled }) => disabled !== undefined && disabled.reason !== 'by_owner').length,
    countUndispatchedEvents: async () => {
      const waiting = state.events.filter(({ seq }) => seq === undefined);
      return { count: waiting.length, oldestAt: findFirst(waiting.map(({ createdAt }) => createdAt)) };
    },
  };
}

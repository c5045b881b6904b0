import type { Endpoint, SealedSecret } from '../../../src/domain/webhook.ts';
import type { EndpointChange, EndpointStore, SecretStore } from '../../../src/store/webhook-store.ts';
import { changeEndpoint, endPending, refreshDueTime, sendAgain } from './model-due-times.ts';
import { compareTexts, findReceiver, listPending, takeNewest } from './webhooks-state.ts';
import type { WebhooksState } from './webhooks-state.ts';

/** Endpoints and their secrets. */
export function modelEndpoints(state: WebhooksState): EndpointStore {
  const find = (accountId: string, endpointId: string): Endpoint | undefined =>
    state.endpoints.find((one) => one.id === endpointId && one.accountId === accountId);
  const ofAccount = (accountId: string): readonly Endpoint[] =>
    state.endpoints.filter((one) => one.accountId === accountId);
  return {
    ...modelSecrets(state),
    addEndpoint: async (endpoint, secret, max) => {
      if (ofAccount(endpoint.accountId).length >= max) return false;
      state.begun.push(endpoint.id);
      state.endpoints.push(endpoint);
      addUnlessKept(state, secret);
      return true;
    },
    findEndpoint: async (accountId, endpointId) => find(accountId, endpointId),
    listEndpoints: async (accountId, page) => takeNewest(ofAccount(accountId), page),
    updateEndpoint: async (accountId, endpointId, change) => {
      const found = find(accountId, endpointId);
      if (found === undefined) return undefined;
      const changed = changeEndpoint(state, found, listChanges(found, change));
      if (change.enabled === true) enableReceiver(state, endpointId, change.at);
      if (change.enabled === false) disableReceiver(state, endpointId, change.at);
      return changed;
    },
    removeEndpoint: async (accountId, endpointId, at) => {
      const found = find(accountId, endpointId);
      if (found === undefined) return false;
      state.endpoints = state.endpoints.filter((one) => one !== found);
      state.secrets = state.secrets.filter(({ ownerId }) => ownerId !== endpointId);
      state.receivers = state.receivers.filter(({ id }) => id !== endpointId);
      endPending(state, endpointId, 'endpoint_removed', at);
      return true;
    },
    readHealth: async (endpointIds) =>
      new Map(state.receivers.filter(({ id }) => endpointIds.includes(id)).map(({ id, health }) => [id, health])),
  };
}

function listChanges(
  was: Endpoint,
  { name, url, eventTypes, payload, enabled, at }: EndpointChange,
): Partial<Endpoint> {
  const isOnlyEnabled = [name, url, eventTypes, payload].every((one) => one === undefined) && enabled === true;
  const disabled = enabled === true ? undefined : was.disabled;
  return {
    name: name ?? was.name,
    url: url ?? was.url,
    eventTypes: eventTypes ?? was.eventTypes,
    payload: payload ?? was.payload,
    disabled: enabled === false ? (disabled ?? { at, reason: 'by_owner' }) : disabled,
    updatedAt: isOnlyEnabled && was.disabled === undefined ? was.updatedAt : at,
  };
}

/** Forgets its failures, and makes what waits for it due under a new schedule. */
function enableReceiver(state: WebhooksState, endpointId: string, at: number): void {
  for (const one of listPending(state, endpointId)) if ((one.dueAt ?? 0) > at) sendAgain(one, at);
  const receiver = findReceiver(state, endpointId);
  if (receiver === undefined) return;
  const { lastSuccessAt, lastFailureAt } = receiver.health;
  receiver.health = { failures: 0, lastSuccessAt, lastFailureAt };
  receiver.circuit += 1;
  receiver.updatedAt = at;
  refreshDueTime(state, receiver, at);
}

function disableReceiver(state: WebhooksState, endpointId: string, at: number): void {
  endPending(state, endpointId, 'endpoint_disabled', at);
  const receiver = findReceiver(state, endpointId);
  if (receiver === undefined) return;
  receiver.updatedAt = at;
  refreshDueTime(state, receiver, at);
}

function modelSecrets(state: WebhooksState): SecretStore {
  return {
    findSecrets: async (ownerIds) =>
      new Map(state.secrets.filter(({ ownerId }) => ownerIds.includes(ownerId)).map((one) => [one.ownerId, one])),
    addSecret: async (secret) => addUnlessKept(state, secret),
    replaceSecret: async ({ ownerId, sealed, hint, old, updatedAt }, was) => {
      const kept = state.secrets.find((one) => one.ownerId === ownerId && one.sealed === was);
      if (kept === undefined) return false;
      const replaced = { ...kept, sealed, hint, old, updatedAt };
      state.secrets = state.secrets.map((one) => (one === kept ? replaced : one));
      return true;
    },
    listSecrets: async (after, limit) =>
      state.secrets
        .filter(({ ownerId }) => ownerId > after)
        .toSorted((one, other) => compareTexts(one.ownerId, other.ownerId))
        .slice(0, limit),
  };
}

function addUnlessKept(state: WebhooksState, secret: SealedSecret): SealedSecret {
  const kept = state.secrets.find(({ ownerId }) => ownerId === secret.ownerId);
  if (kept === undefined) state.secrets.push(secret);
  return kept ?? secret;
}

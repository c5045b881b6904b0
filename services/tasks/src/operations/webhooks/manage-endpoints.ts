import type { Secret } from '@reelgate/platform/secret';
import { DEFAULT_ENDPOINT, HEALTHY, toSecretOwnerId } from '../../domain/webhook.ts';
import type { Endpoint, EventType, Health, Payload, SealedSecret } from '../../domain/webhook.ts';
import {
  parseEventTypes,
  assertWebhookUrl,
  endpointNotFound,
  invalidRequest,
  rotationConflict,
  tooManyEndpoints,
} from './webhook-refusals.ts';
import type { EndpointName } from './secrets.ts';
import type { WebhookDeps } from './webhook-deps.ts';

/** The time in milliseconds for which the old secret also signs deliveries, if its owner asks for it. */
export const OLD_SECRET_MS = 24 * 3_600_000;

const ENDPOINT_ID = /^whe_\w+$/;

/** An endpoint as its owner sees it. That of `default` has no settings. */
export interface EndpointView {
  readonly id: string;
  readonly accountId: string;
  readonly settings?: EndpointSettings | undefined;
  /** Empty if there is no secret yet. */
  readonly hint: string;
  readonly createdAt?: number | undefined;
  /** The time at which the settings or the secret last changed. */
  readonly updatedAt?: number | undefined;
  readonly health: Health;
}

export interface EndpointSettings {
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly EventType[];
  readonly payload: Payload;
  readonly disabled?: Endpoint['disabled'];
}

export interface NewEndpoint {
  readonly accountId: string;
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly payload: Payload;
}

/** An endpoint with its secret, which only this answer shows. */
export interface EndpointWithSecret {
  readonly endpoint: EndpointView;
  readonly secret: Secret;
}

/** A change of an endpoint. An absent setting stays as it is. */
export interface EndpointChange {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly eventTypes?: readonly string[] | undefined;
  readonly payload?: Payload | undefined;
  readonly disabled?: boolean | undefined;
}

export async function createEndpoint(deps: WebhookDeps, request: NewEndpoint): Promise<EndpointWithSecret> {
  assertWebhookUrl(deps.allow, request.url, 'url');
  const eventTypes = parseEventTypes(request.eventTypes, 'event_types');
  const now = deps.clock.now();
  const endpoint: Endpoint = {
    ...request,
    id: deps.newId('whe'),
    eventTypes,
    createdAt: now,
    updatedAt: now,
  };
  const { secret, stored } = deps.secrets.make({ accountId: endpoint.accountId, endpointId: endpoint.id });
  const max = deps.limits.endpointsPerAccount;
  if (!(await deps.webhooks.addEndpoint(endpoint, stored, max))) throw tooManyEndpoints(max);
  deps.log.info({ endpointId: endpoint.id, accountId: endpoint.accountId }, 'a webhook endpoint was created');
  return { endpoint: toEndpointView(endpoint, stored), secret };
}

export async function getEndpoint(deps: WebhookDeps, accountId: string, endpointId: string): Promise<EndpointView> {
  if (endpointId === DEFAULT_ENDPOINT) {
    const ownerId = toSecretOwnerId(accountId, endpointId);
    return toDefaultView(accountId, (await deps.webhooks.findSecrets([ownerId])).get(ownerId));
  }
  const [view] = await readEndpointViews(deps, [await mustFindEndpoint(deps, accountId, endpointId)]);
  if (view === undefined) throw endpointNotFound();
  return view;
}

/** A page of the endpoints of an account, without `default`. It may begin after an endpoint that was deleted. */
export async function listEndpoints(
  deps: WebhookDeps,
  accountId: string,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<{ readonly endpoints: readonly EndpointView[]; readonly hasMore: boolean }> {
  if (after !== undefined && !ENDPOINT_ID.test(after))
    throw invalidRequest('after', 'must be the id of a webhook endpoint, such as the last id of the previous page');
  const found = await deps.webhooks.listEndpoints(accountId, { limit: limit + 1, after });
  return { endpoints: await readEndpointViews(deps, found.slice(0, limit)), hasMore: found.length > limit };
}

/** Changes the given settings. A new URL enables the endpoint, unless the change disables it. */
export async function updateEndpoint(
  deps: WebhookDeps,
  accountId: string,
  endpointId: string,
  change: EndpointChange,
): Promise<EndpointView> {
  if (change.name === '') throw invalidRequest('name', 'must not be empty');
  assertWebhookUrl(deps.allow, change.url, 'url');
  const eventTypes = change.eventTypes && parseEventTypes(change.eventTypes, 'event_types');
  const found = await mustFindEndpoint(deps, accountId, endpointId);
  const differences = findDifferences(found, { ...change, eventTypes });
  const updated =
    Object.keys(differences).length === 0
      ? found
      : await deps.webhooks.updateEndpoint(accountId, endpointId, { ...differences, at: deps.clock.now() });
  if (differences.enabled === true) deps.announceDispatched({ deliveriesDue: true });
  const [view] = await readEndpointViews(deps, updated === undefined ? [] : [updated]);
  if (view === undefined) throw endpointNotFound();
  return view;
}

/**
 * Replaces the secret of an endpoint. The old one signs next to it for 24 hours at most. Of two rotations at the same
 * time one is refused, so that no caller holds a secret that never signs.
 */
export async function rotateSecret(
  deps: WebhookDeps,
  name: EndpointName,
  { keepOld }: { readonly keepOld: boolean },
): Promise<EndpointWithSecret> {
  const isDefault = name.endpointId === DEFAULT_ENDPOINT;
  if (!isDefault) await mustFindEndpoint(deps, name.accountId, name.endpointId);
  const ownerId = toSecretOwnerId(name.accountId, name.endpointId);
  const was = (await deps.webhooks.findSecrets([ownerId])).get(ownerId);
  if (was === undefined && !isDefault) throw endpointNotFound();

  const { secret, stored: made } = deps.secrets.make(name);
  const stored = was === undefined ? made : toReplacement(was, made, keepOld);
  const isWritten =
    was === undefined
      ? (await deps.webhooks.addSecret(stored)).sealed === stored.sealed
      : await deps.webhooks.replaceSecret(stored, was.sealed);
  if (!isWritten) throw rotationConflict();
  deps.log.info({ endpointId: name.endpointId, accountId: name.accountId, keepOld }, 'a webhook secret was rotated');
  return {
    endpoint: isDefault
      ? toDefaultView(name.accountId, stored)
      : await getEndpoint(deps, name.accountId, name.endpointId),
    secret,
  };
}

export async function deleteEndpoint(deps: WebhookDeps, accountId: string, endpointId: string): Promise<void> {
  if (!(await deps.webhooks.removeEndpoint(accountId, endpointId, deps.clock.now()))) throw endpointNotFound();
  deps.log.info({ endpointId, accountId }, 'a webhook endpoint was deleted');
}

/** An endpoint of the account. For other accounts it does not exist. */
export async function mustFindEndpoint(
  { webhooks }: WebhookDeps,
  accountId: string,
  endpointId: string,
): Promise<Endpoint> {
  const endpoint = await webhooks.findEndpoint(accountId, endpointId);
  if (endpoint === undefined) throw endpointNotFound();
  return endpoint;
}

type Differences = Omit<Parameters<WebhookDeps['webhooks']['updateEndpoint']>[2], 'at'>;

function findDifferences(
  endpoint: Endpoint,
  change: Omit<EndpointChange, 'eventTypes'> & { readonly eventTypes?: readonly EventType[] | undefined },
): Differences {
  const eventTypes =
    change.eventTypes && isSame(change.eventTypes, endpoint.eventTypes) ? undefined : change.eventTypes;
  const all: Differences = {
    name: keepIfChanged(endpoint.name, change.name),
    url: keepIfChanged(endpoint.url, change.url),
    eventTypes,
    payload: keepIfChanged(endpoint.payload, change.payload),
    enabled: decideEnabled(endpoint, change),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** The new value, undefined if the setting stays as it is. */
function keepIfChanged<T>(before: T, after: T | undefined): T | undefined {
  return after === before ? undefined : after;
}

/** A new URL or the wish enables even an enabled endpoint, and its failures are then forgotten. */
function decideEnabled({ url, disabled: was }: Endpoint, change: EndpointChange): boolean | undefined {
  const isMoved = keepIfChanged(url, change.url) !== undefined;
  if (change.disabled === undefined) return isMoved ? true : undefined;
  return isMoved || !change.disabled || was === undefined ? !change.disabled : undefined;
}

function isSame(one: readonly EventType[], other: readonly EventType[]): boolean {
  return one.length === other.length && one.every((type) => other.includes(type));
}

function toReplacement(was: SealedSecret, made: SealedSecret, keepOld: boolean): SealedSecret {
  return {
    ...made,
    createdAt: was.createdAt,
    old: keepOld ? { sealed: was.sealed, until: made.updatedAt + OLD_SECRET_MS } : undefined,
  };
}

/** Endpoints with their hints and their health, in the same order. */
async function readEndpointViews(
  { webhooks }: WebhookDeps,
  endpoints: readonly Endpoint[],
): Promise<readonly EndpointView[]> {
  const ids = endpoints.map(({ id }) => id);
  const [secrets, health] = await Promise.all([webhooks.findSecrets(ids), webhooks.readHealth(ids)]);
  return endpoints.map((endpoint) => toEndpointView(endpoint, secrets.get(endpoint.id), health.get(endpoint.id)));
}

function toEndpointView(
  endpoint: Endpoint,
  secret: SealedSecret | undefined,
  health: Health | undefined = HEALTHY,
): EndpointView {
  const { id, accountId, createdAt, updatedAt } = endpoint;
  return {
    id,
    accountId,
    settings: endpoint,
    hint: secret?.hint ?? '',
    createdAt,
    updatedAt: Math.max(updatedAt, secret?.updatedAt ?? 0),
    health,
  };
}

function toDefaultView(accountId: string, secret: SealedSecret | undefined): EndpointView {
  return {
    id: DEFAULT_ENDPOINT,
    accountId,
    hint: secret?.hint ?? '',
    createdAt: secret?.createdAt,
    updatedAt: secret?.updatedAt,
    health: HEALTHY,
  };
}

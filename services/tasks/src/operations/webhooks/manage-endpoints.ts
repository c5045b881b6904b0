import type { Message } from '@bufbuild/protobuf';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import type { Secret } from '@reelgate/platform/secret';
import { WebhookEndpointSchema, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookEndpoint } from '@reelgate/proto/tasks/v1/webhook';
import type {
  CreateWebhookEndpointRequest,
  UpdateWebhookEndpointRequest,
} from '@reelgate/proto/tasks/v1/webhook_service';
import { DEFAULT_ENDPOINT, HEALTHY, toSecretOwnerId } from '../../domain/webhook.ts';
import type { Endpoint, EventType, Health, SealedSecret } from '../../domain/webhook.ts';
import type { EndpointChange } from '../../store/webhook-store.ts';
import { PAYLOADS } from './event-subjects.ts';
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

/** An endpoint with its secret, which only this answer shows. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: Secret;
}

const PAYLOAD_WORDS = deriveWords(WebhookPayload, 'thin');

export async function createEndpoint(
  deps: WebhookDeps,
  { accountId, name, url, payload, ...request }: Omit<CreateWebhookEndpointRequest, keyof Message>,
): Promise<EndpointWithSecret> {
  assertWebhookUrl(deps.allow, url, 'url');
  const eventTypes = parseEventTypes(request.eventTypes, 'event_types');
  const now = deps.clock.now();
  const endpoint: Endpoint = {
    id: deps.newId('whe'),
    accountId,
    name,
    url,
    eventTypes,
    payload: PAYLOAD_WORDS[payload],
    createdAt: now,
    updatedAt: now,
  };
  const { secret, stored } = deps.secrets.make({ accountId, endpointId: endpoint.id });
  const max = deps.limits.endpointsPerAccount;
  if (!(await deps.webhooks.addEndpoint(endpoint, stored, max))) throw tooManyEndpoints(max);
  deps.log.info({ endpointId: endpoint.id, accountId }, 'a webhook endpoint was created');
  return { endpoint: toWireEndpoint(endpoint, stored), secret };
}

export async function getEndpoint(deps: WebhookDeps, accountId: string, endpointId: string): Promise<WebhookEndpoint> {
  if (endpointId === DEFAULT_ENDPOINT) {
    const ownerId = toSecretOwnerId(accountId, endpointId);
    return toDefaultEndpoint(accountId, (await deps.webhooks.findSecrets([ownerId])).get(ownerId));
  }
  const [endpoint] = await readEndpoints(deps, [await mustFindEndpoint(deps, accountId, endpointId)]);
  if (endpoint === undefined) throw endpointNotFound();
  return endpoint;
}

/** A page of the endpoints of an account, without `default`. It may begin after an endpoint that was deleted. */
export async function listEndpoints(
  deps: WebhookDeps,
  accountId: string,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<{ readonly endpoints: WebhookEndpoint[]; readonly hasMore: boolean }> {
  if (after !== undefined && !ENDPOINT_ID.test(after))
    throw invalidRequest('after', 'must be the id of a webhook endpoint, such as the last id of the previous page');
  const found = await deps.webhooks.listEndpoints(accountId, { limit: limit + 1, after });
  return { endpoints: await readEndpoints(deps, found.slice(0, limit)), hasMore: found.length > limit };
}

/** Changes the given settings. A new URL enables the endpoint, unless the change disables it. */
export async function updateEndpoint(
  deps: WebhookDeps,
  request: UpdateWebhookEndpointRequest,
): Promise<WebhookEndpoint> {
  const { accountId, endpointId, name, url } = request;
  if (name === '') throw invalidRequest('name', 'must not be empty');
  assertWebhookUrl(deps.allow, url, 'url');
  const eventTypes = request.eventTypes.length === 0 ? undefined : parseEventTypes(request.eventTypes, 'event_types');
  const found = await mustFindEndpoint(deps, accountId, endpointId);
  const differences = findDifferences(found, request, eventTypes);
  const updated =
    Object.keys(differences).length === 0
      ? found
      : await deps.webhooks.updateEndpoint(accountId, endpointId, { ...differences, at: deps.clock.now() });
  if (differences.enabled === true) deps.announceDispatched({ deliveriesDue: true });
  const [endpoint] = await readEndpoints(deps, updated === undefined ? [] : [updated]);
  if (endpoint === undefined) throw endpointNotFound();
  return endpoint;
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
      ? toDefaultEndpoint(name.accountId, stored)
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

function findDifferences(
  endpoint: Endpoint,
  { name, url, payload, disabled }: UpdateWebhookEndpointRequest,
  eventTypes: readonly EventType[] | undefined,
): Omit<EndpointChange, 'at'> {
  const all: Omit<EndpointChange, 'at'> = {
    name: keepIfChanged(endpoint.name, name),
    url: keepIfChanged(endpoint.url, url),
    eventTypes: eventTypes && isSame(eventTypes, endpoint.eventTypes) ? undefined : eventTypes,
    payload:
      payload === WebhookPayload.UNSPECIFIED ? undefined : keepIfChanged(endpoint.payload, PAYLOAD_WORDS[payload]),
    enabled: decideEnabled(endpoint, url, disabled),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** The new value, undefined if the setting stays as it is. */
function keepIfChanged<T>(before: T, after: T | undefined): T | undefined {
  return after === before ? undefined : after;
}

/** A new URL or the wish enables even an enabled endpoint, and its failures are then forgotten. */
function decideEnabled(
  { url: before, disabled: was }: Endpoint,
  url: string | undefined,
  disabled: boolean | undefined,
): boolean | undefined {
  const isMoved = keepIfChanged(before, url) !== undefined;
  if (disabled === undefined) return isMoved ? true : undefined;
  return isMoved || !disabled || was === undefined ? !disabled : undefined;
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

/** Endpoints as their owner sees them, with their hints and their health, in the same order. */
async function readEndpoints({ webhooks }: WebhookDeps, endpoints: readonly Endpoint[]): Promise<WebhookEndpoint[]> {
  const ids = endpoints.map(({ id }) => id);
  const [secrets, health] = await Promise.all([webhooks.findSecrets(ids), webhooks.readHealth(ids)]);
  return endpoints.map((endpoint) => toWireEndpoint(endpoint, secrets.get(endpoint.id), health.get(endpoint.id)));
}

function toWireEndpoint(
  { id, accountId, name, url, eventTypes, payload, createdAt, updatedAt, disabled }: Endpoint,
  secret: SealedSecret | undefined,
  { lastSuccessAt, lastFailureAt, failingSince }: Health = HEALTHY,
): WebhookEndpoint {
  return toMessage(WebhookEndpointSchema, {
    id,
    accountId,
    name,
    url,
    eventTypes: [...eventTypes],
    payload: PAYLOADS[payload],
    secretHint: secret?.hint,
    disabledReason: disabled?.reason,
    createdAt: toTimestamp(createdAt),
    updatedAt: toTimestamp(Math.max(updatedAt, secret?.updatedAt ?? 0)),
    disabledAt: toTimestamp(disabled?.at),
    lastSuccessAt: toTimestamp(lastSuccessAt),
    lastFailureAt: toTimestamp(lastFailureAt),
    failingSince: toTimestamp(failingSince),
  });
}

/** The endpoint of the URLs that requests carry has a secret alone. */
function toDefaultEndpoint(accountId: string, secret: SealedSecret | undefined): WebhookEndpoint {
  return toMessage(WebhookEndpointSchema, {
    id: DEFAULT_ENDPOINT,
    accountId,
    name: '',
    url: '',
    eventTypes: [],
    payload: WebhookPayload.THIN,
    secretHint: secret?.hint,
    disabledReason: '',
    createdAt: toTimestamp(secret?.createdAt),
    updatedAt: toTimestamp(secret?.updatedAt),
    disabledAt: undefined,
    lastSuccessAt: undefined,
    lastFailureAt: undefined,
    failingSince: undefined,
  });
}

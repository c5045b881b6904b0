import type { Secret } from '@reelgate/platform/secret';
import type { Endpoint, EventType, Payload } from '../../domain/webhook.ts';
import { parseEventTypes } from './checked-event-types.ts';
import { toEndpointView, readEndpointViews } from './endpoint-view.ts';
import type { EndpointView } from './endpoint-view.ts';
import { mustFindEndpoint } from './read-endpoints.ts';
import type { WebhookDeps } from './webhook-deps.ts';
import { assertWebhookUrl, endpointNotFound, invalidRequest, tooManyEndpoints } from './webhook-refusals.ts';

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

/** A change of an endpoint. An absent setting stays as it is. */
export interface EndpointChange {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly eventTypes?: readonly string[] | undefined;
  readonly payload?: Payload | undefined;
  readonly disabled?: boolean | undefined;
}

/** Changes what differs. A new URL enables the endpoint, unless the change disables it. */
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
  if (differences.enabled === true) deps.announceDispatched();
  const [view] = await readEndpointViews(deps, updated === undefined ? [] : [updated]);
  if (view === undefined) throw endpointNotFound();
  return view;
}

export async function deleteEndpoint(deps: WebhookDeps, accountId: string, endpointId: string): Promise<void> {
  if (!(await deps.webhooks.removeEndpoint(accountId, endpointId, deps.clock.now()))) throw endpointNotFound();
  deps.log.info({ endpointId, accountId }, 'a webhook endpoint was deleted');
}

type Differences = Omit<Parameters<WebhookDeps['webhooks']['updateEndpoint']>[2], 'at'>;

function findDifferences(
  endpoint: Endpoint,
  change: Omit<EndpointChange, 'eventTypes'> & Pick<Differences, 'eventTypes'>,
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

/** The new value; undefined: it is as before, or as it is. */
function keepIfChanged<T>(before: T, after: T | undefined): T | undefined {
  return after === before ? undefined : after;
}

/** A new URL or the wish enables even an enabled endpoint, whose failures are then forgotten. */
function decideEnabled({ url, disabled: was }: Endpoint, change: EndpointChange): boolean | undefined {
  const isMoved = keepIfChanged(url, change.url) !== undefined;
  if (change.disabled === undefined) return isMoved ? true : undefined;
  return isMoved || !change.disabled || was === undefined ? !change.disabled : undefined;
}

function isSame(one: readonly EventType[], other: readonly EventType[]): boolean {
  return one.length === other.length && one.every((type) => other.includes(type));
}

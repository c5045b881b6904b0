import { DEFAULT_ENDPOINT, HEALTHY } from '../../domain/webhook.ts';
import type { Endpoint, Health, SealedSecret } from '../../domain/webhook.ts';
import type { WebhookDeps } from './webhook-deps.ts';

/** An endpoint as its owner sees it. That of `default` has no settings. */
export interface EndpointView {
  readonly id: string;
  readonly accountId: string;
  readonly settings?: Pick<Endpoint, 'name' | 'url' | 'eventTypes' | 'payload' | 'disabled'> | undefined;
  /** Empty: there is no secret yet. */
  readonly hint: string;
  readonly createdAt?: number | undefined;
  /** The time at which the settings or the secret last changed. */
  readonly updatedAt?: number | undefined;
  readonly health: Health;
}

/** Endpoints with their hints and their health, in the same order. */
export async function readEndpointViews(
  { webhooks }: Pick<WebhookDeps, 'webhooks'>,
  endpoints: readonly Endpoint[],
): Promise<readonly EndpointView[]> {
  const ids = endpoints.map(({ id }) => id);
  const [secrets, health] = await Promise.all([webhooks.findSecrets(ids), webhooks.readHealth(ids)]);
  return endpoints.map((endpoint) => toEndpointView(endpoint, secrets.get(endpoint.id), health.get(endpoint.id)));
}

export function toEndpointView(
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

export function toDefaultView(accountId: string, secret: SealedSecret | undefined): EndpointView {
  return {
    id: DEFAULT_ENDPOINT,
    accountId,
    hint: secret?.hint ?? '',
    createdAt: secret?.createdAt,
    updatedAt: secret?.updatedAt,
    health: HEALTHY,
  };
}

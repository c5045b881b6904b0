import { DEFAULT_ENDPOINT, toSecretOwnerId } from '../../domain/webhook.ts';
import type { Endpoint } from '../../domain/webhook.ts';
import { toDefaultView, readEndpointViews } from './endpoint-view.ts';
import type { EndpointView } from './endpoint-view.ts';
import type { WebhookDeps } from './webhook-deps.ts';
import { endpointNotFound, invalidRequest } from './webhook-refusals.ts';

const ENDPOINT_ID = /^whe_\w+$/;

type Deps = Pick<WebhookDeps, 'webhooks'>;

/** An endpoint of the account. For other accounts it does not exist. */
export async function mustFindEndpoint({ webhooks }: Deps, accountId: string, endpointId: string): Promise<Endpoint> {
  const endpoint = await webhooks.findEndpoint(accountId, endpointId);
  if (endpoint === undefined) throw endpointNotFound();
  return endpoint;
}

export async function getEndpoint(deps: Deps, accountId: string, endpointId: string): Promise<EndpointView> {
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
  deps: Deps,
  accountId: string,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<{ readonly endpoints: readonly EndpointView[]; readonly hasMore: boolean }> {
  if (after !== undefined && !ENDPOINT_ID.test(after))
    throw invalidRequest('after', 'must be the id of a webhook endpoint, such as the last id of the previous page');
  const found = await deps.webhooks.listEndpoints(accountId, { limit: limit + 1, after });
  return { endpoints: await readEndpointViews(deps, found.slice(0, limit)), hasMore: found.length > limit };
}

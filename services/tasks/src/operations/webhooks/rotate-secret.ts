import { DEFAULT_ENDPOINT, toSecretOwnerId } from '../../domain/webhook.ts';
import type { SealedSecret } from '../../domain/webhook.ts';
import { toDefaultView, readEndpointViews } from './endpoint-view.ts';
import type { EndpointView } from './endpoint-view.ts';
import type { EndpointWithSecret } from './manage-endpoints.ts';
import { mustFindEndpoint } from './read-endpoints.ts';
import type { EndpointName } from './secrets.ts';
import type { WebhookDeps } from './webhook-deps.ts';
import { endpointNotFound, rotationConflict } from './webhook-refusals.ts';

/** The time in milliseconds for which the old secret also signs deliveries, if its owner asks for it. */
export const OLD_SECRET_MS = 24 * 3_600_000;

/**
 * Replaces the secret of an endpoint. The old one signs beside it for 24 hours, or no longer. Of two rotations at the
 * same time one is refused, so that no caller holds a secret that signs nothing.
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
  return { endpoint: isDefault ? toDefaultView(name.accountId, stored) : await readOwnView(deps, name), secret };
}

function toReplacement(was: SealedSecret, made: SealedSecret, keepOld: boolean): SealedSecret {
  return {
    ...made,
    createdAt: was.createdAt,
    old: keepOld ? { sealed: was.sealed, until: made.updatedAt + OLD_SECRET_MS } : undefined,
  };
}

async function readOwnView(deps: WebhookDeps, { accountId, endpointId }: EndpointName): Promise<EndpointView> {
  const [view] = await readEndpointViews(deps, [await mustFindEndpoint(deps, accountId, endpointId)]);
  if (view === undefined) throw endpointNotFound();
  return view;
}

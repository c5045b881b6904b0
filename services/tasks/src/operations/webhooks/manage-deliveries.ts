import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { WebhookAttemptSchema, WebhookDeliverySchema, WebhookDeliveryState } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookAttempt, WebhookDelivery } from '@reelgate/proto/tasks/v1/webhook';
import { DEFAULT_ENDPOINT } from '../../domain/webhook.ts';
import type { Attempt, Delivery, DeliveryState } from '../../domain/webhook.ts';
import { mustFindEndpoint } from './manage-endpoints.ts';
import type { EndpointName } from './secrets.ts';
import type { WebhookDeps } from './webhook-deps.ts';
import { deliveryNotFound, endpointDisabled, invalidRequest } from './webhook-refusals.ts';

/** The most deliveries that one call retries. */
const RESENT_MAX = 1000;
/** The most deliveries about a task or a job. */
const ABOUT_MAX = 100;

const STATES = deriveValues(WebhookDeliveryState);

/** A page of the deliveries of an endpoint, without their attempts. */
export async function listDeliveries(
  deps: WebhookDeps,
  filter: EndpointName & { readonly state?: DeliveryState | undefined },
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<{ readonly deliveries: WebhookDelivery[]; readonly hasMore: boolean }> {
  const { accountId, endpointId } = filter;
  if (endpointId !== DEFAULT_ENDPOINT) await mustFindEndpoint(deps, accountId, endpointId);
  if (after !== undefined && (await deps.webhooks.findDelivery(accountId, after)) === undefined)
    throw invalidRequest(
      'after',
      'must be the id of a delivery of this account, such as the last id of the previous page',
    );
  const found = await deps.webhooks.listDeliveries(filter, { limit: limit + 1, after });
  return {
    deliveries: found.slice(0, limit).map((delivery) => toWireDelivery(delivery)),
    hasMore: found.length > limit,
  };
}

export async function showDelivery(
  { webhooks }: WebhookDeps,
  accountId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const delivery = await webhooks.findDelivery(accountId, deliveryId);
  if (delivery === undefined) throw deliveryNotFound();
  return toWireDelivery(delivery, await webhooks.listAttempts(deliveryId));
}

/** The deliveries about a task or a job with their attempts, the newest first. A page shows them all. */
export async function listDeliveriesAbout(
  { webhooks }: WebhookDeps,
  accountId: string,
  subjectId: string,
): Promise<WebhookDelivery[]> {
  const deliveries = await webhooks.listDeliveriesAbout(accountId, subjectId, ABOUT_MAX);
  const attempts = await webhooks.listAttemptsByDelivery(deliveries.map(({ id }) => id));
  return deliveries.map((delivery) => toWireDelivery(delivery, attempts.get(delivery.id)));
}

/** Makes a delivery due at once, under a new schedule. */
export async function resendDelivery(
  deps: WebhookDeps,
  accountId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const { endpointId } = await showDelivery(deps, accountId, deliveryId);
  await assertReceiver(deps, { accountId, endpointId });
  if (!(await deps.webhooks.resend(accountId, deliveryId, deps.clock.now()))) throw deliveryNotFound();
  deps.announceDispatched({ deliveriesDue: true });
  return showDelivery(deps, accountId, deliveryId);
}

/** Makes failed deliveries of an endpoint due at once. Returns how many; at 1000 there may be more. */
export async function resendFailed(deps: WebhookDeps, name: EndpointName, since: number): Promise<number> {
  await assertReceiver(deps, name);
  const resent = await deps.webhooks.resendFailed({ ...name, since, limit: RESENT_MAX }, deps.clock.now());
  if (resent > 0) deps.announceDispatched({ deliveriesDue: true });
  return resent;
}

/** Refuses an endpoint that is disabled or deleted, because its due deliveries would never be sent. */
async function assertReceiver(deps: WebhookDeps, { accountId, endpointId }: EndpointName): Promise<void> {
  if (endpointId === DEFAULT_ENDPOINT) return;
  const { disabled } = await mustFindEndpoint(deps, accountId, endpointId);
  if (disabled !== undefined) throw endpointDisabled();
}

function toWireDelivery(delivery: Delivery, attempts: readonly Attempt[] = []): WebhookDelivery {
  const { id, endpointId, url, eventId, eventType, subjectId, state, createdAt, nextAttemptAt, endedAt } = delivery;
  return toMessage(WebhookDeliverySchema, {
    id,
    endpointId,
    url,
    eventId,
    eventType,
    subjectId,
    state: STATES[state],
    attemptCount: delivery.attempts,
    lastStatusCode: delivery.status,
    lastError: delivery.error,
    createdAt: timestampFromMs(createdAt),
    nextAttemptAt: toTimestamp(nextAttemptAt),
    endedAt: toTimestamp(endedAt),
    attempts: attempts.map(toWireAttempt),
  });
}

function toWireAttempt(attempt: Attempt): WebhookAttempt {
  const { number, at, durationMs, status, error, requestHeaders, answerHead } = attempt;
  return toMessage(WebhookAttemptSchema, {
    number,
    at: timestampFromMs(at),
    durationMs: BigInt(durationMs),
    statusCode: status,
    error,
    requestHeaders: { ...requestHeaders },
    answerHead,
  });
}

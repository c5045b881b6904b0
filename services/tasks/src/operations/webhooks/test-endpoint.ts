import { signatureOf } from '@reelgate/platform/webhooks/sign';
import { overloaded } from '../task-refusals.ts';
import { checkedEventType } from './checked-event-types.ts';
import { mustFindEndpoint } from './read-endpoints.ts';
import { sampleEvent } from './sample-event.ts';
import type { EndpointName } from './secrets.ts';
import type { WebhookDeps } from './webhook-deps.ts';
import { notReached } from './webhook-refusals.ts';

const MS = 1000;
const NOT_REACHED = 'the receiver could not be reached';
/** What is said of the fault that media names. */
const FAULTS: Readonly<Record<string, string>> = {
  address_refused: 'the host of the URL has no public address',
  not_reached: `${NOT_REACHED}; check the host of the URL and its port`,
  tls: 'the receiver refused the TLS handshake, or its certificate is not valid',
  timeout: 'the receiver gave no answer within 15 s',
  too_large: 'the answer of the receiver is larger than 64 KiB',
  redirect: 'the receiver answered with a redirect, which is not followed; use the URL that it leads to',
};

/** Sends a sample event to an endpoint, even to a disabled one, and returns the status of the answer. Stores nothing. */
export async function testEndpoint(
  deps: WebhookDeps,
  { accountId, endpointId }: EndpointName,
  eventType: string,
  signal?: AbortSignal,
): Promise<number> {
  const type = checkedEventType(eventType, 'event_type');
  const { url } = await mustFindEndpoint(deps, accountId, endpointId);
  const secrets = await deps.secrets.of(accountId, endpointId);
  if (secrets.length === 0) throw new Error(`no secret of ${endpointId} can be opened`);
  const { id, body } = sampleEvent(deps, accountId, type);
  const timestamp = Math.floor(deps.clock.now() / MS);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf(secrets, { id, timestamp, body }),
  };
  const answer = await deps.sender.send({ accountId, url, headers, body }, signal);
  if (!('fault' in answer)) return answer.status;
  if (answer.fault === 'busy') throw overloaded();
  throw notReached(FAULTS[answer.fault] ?? NOT_REACHED);
}

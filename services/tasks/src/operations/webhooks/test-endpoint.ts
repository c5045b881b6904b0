import type { Span } from '@reelgate/platform/trace/trace';
import { inSpan } from '@reelgate/platform/trace/trace';
import { signDelivery } from '@reelgate/platform/webhooks/sign';
import type { EventType } from '../../domain/webhook.ts';
import { overloadRefusal } from '../task-refusals.ts';
import { parseEventType, notReached } from './webhook-refusals.ts';
import { mustFindEndpoint } from './manage-endpoints.ts';
import type { EndpointName } from './secrets.ts';
import type { WebhookDeps } from './webhook-deps.ts';

/** Further members of the data of a sample, in the form of a real event. */
const DATA: Readonly<Partial<Record<EventType, object>>> = {
  'balance.low': { currency: 'USD', available: '1.23', last_credit: '20.00' },
};

const MS = 1000;
const NOT_REACHED = 'the receiver could not be reached';
/** The messages for the faults that media names. */
const FAULTS: Readonly<Record<string, string>> = {
  address_refused: 'the host of the URL has no public address',
  not_reached: `${NOT_REACHED}; check the host of the URL and its port`,
  tls: 'the receiver refused the TLS handshake, or its certificate is not valid',
  timeout: 'the receiver gave no answer within 15 s',
  too_large: 'the answer of the receiver is larger than 64 KiB',
  redirect: 'the receiver answered with a redirect, which is not followed; use the URL that it leads to',
};

/**
 * Sends a sample event to an endpoint, even to a disabled one, and returns the status of the answer. Stores no event.
 */
export async function testEndpoint(
  deps: WebhookDeps,
  { accountId, endpointId }: EndpointName,
  eventType: string,
  { signal, span }: { readonly signal?: AbortSignal; readonly span?: Span } = {},
): Promise<number> {
  const type = parseEventType(eventType, 'event_type');
  const { url } = await mustFindEndpoint(deps, accountId, endpointId);
  const secrets = await deps.secrets.openSecrets(accountId, endpointId);
  if (secrets.length === 0) throw new Error(`no secret of ${endpointId} can be opened`);
  const { id, body } = sampleEvent(deps, accountId, type);
  const timestamp = Math.floor(deps.clock.now() / MS);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signDelivery(secrets, { id, timestamp, body }),
  };
  const attributes = { 'reelgate.account.id': accountId, 'reelgate.event.id': id, 'reelgate.event.type': type };
  const answer = await inSpan(span, 'deliver webhook', { kind: 'client', attributes }, async (delivering) => {
    const given = await deps.sender.send({ accountId, url, headers, body }, { signal, span: delivering });
    if ('fault' in given) delivering.fail(given.fault);
    else delivering.set({ 'http.response.status_code': given.status });
    return given;
  });
  deps.log.info({ accountId, endpointId, eventId: id, ...answer }, 'a test webhook was sent');
  if (!('fault' in answer)) return answer.status;
  if (answer.fault === 'busy') throw overloadRefusal();
  throw notReached(FAULTS[answer.fault] ?? NOT_REACHED);
}

/** An event with new ids of no real work, as a thin delivery carries it. */
function sampleEvent(
  { newId, clock }: WebhookDeps,
  accountId: string,
  type: EventType,
): { readonly id: string; readonly body: string } {
  const subjects: Readonly<Record<EventType, () => string>> = {
    'video.completed': () => newId('task'),
    'video.failed': () => newId('task'),
    'job.completed': () => newId('job'),
    'job.failed': () => newId('job'),
    'batch.completed': () => newId('batch'),
    'batch.failed': () => newId('batch'),
    'batch.expired': () => newId('batch'),
    'batch.cancelled': () => newId('batch'),
    'balance.low': () => accountId,
  };
  const id = newId('evt');
  const data = { id: subjects[type](), ...DATA[type] };
  return {
    id,
    body: JSON.stringify({ object: 'event', id, type, created_at: Math.floor(clock.now() / MS), data }),
  };
}

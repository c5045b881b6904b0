import type { Problem } from '@reelgate/platform/problem';
import { withoutMember } from '../json-bytes/json-members.ts';
import type { RelayCall } from '../relay/requests/relay-call.ts';
import { refuse } from '../refusals.ts';

const NAME = 'webhook_url';

/** A call without the URL that is told when it ends, and that URL. No upstream gets it. */
export interface CallWithWebhook {
  readonly call: RelayCall;
  readonly webhookUrl: string | undefined;
}

/** Takes `webhook_url` out of a JSON body or out of the query. Refuses a call that has it in both. */
export function takeWebhookUrl(call: RelayCall): CallWithWebhook {
  const [inBody, inQuery] = [takeFromBody(call), takeFromQuery(call.search)];
  const given = [...inBody.values, ...inQuery.values];
  if (given.length > 1) throw invalidWebhookUrl('must be given only once, in the body or in the query');
  const [webhookUrl] = given;
  if (webhookUrl !== undefined && (typeof webhookUrl !== 'string' || webhookUrl === ''))
    throw invalidWebhookUrl('must be an HTTPS URL');
  return { call: { ...inBody.call, search: inQuery.search }, webhookUrl };
}

interface WebhookUrls {
  /** At most one, but a query can repeat a name. */
  readonly values: readonly unknown[];
}

function takeFromBody(call: RelayCall): WebhookUrls & { readonly call: RelayCall } {
  const { json } = call.content;
  if (json === undefined || !Object.hasOwn(json, NAME)) return { call, values: [] };
  const { [NAME]: value, ...rest } = json;
  const body = withoutMember(call.body, NAME);
  return {
    call: { ...call, body, content: { ...call.content, json: rest, bodyBytes: body.length } },
    values: value === null ? [] : [value],
  };
}

/** The other parameters stay as the client wrote them. */
function takeFromQuery(search: string): WebhookUrls & { readonly search: string } {
  if (search === '') return { search, values: [] };
  const pairs = search.slice(1).split('&');
  const kept = pairs.filter((pair) => !new URLSearchParams(pair).has(NAME));
  if (kept.length === pairs.length) return { search, values: [] };
  return {
    search: kept.length === 0 ? '' : `?${kept.join('&')}`,
    values: new URLSearchParams(search).getAll(NAME),
  };
}

function invalidWebhookUrl(message: string): Problem {
  return refuse('invalid_webhook_url', { field: NAME, message });
}

import { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookDelivery, WebhookEndpoint } from '@reelgate/proto/tasks/v1/webhook';
import { WrongCall, assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { limitOption, readLimit } from '../format/list-options.ts';
import { WIDE_OPTION, toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { ago, isoTime, relativeTime } from '../format/times.ts';
import {
  DELIVERY_STATES,
  PAYLOADS,
  deliveryStateName,
  payloadName,
  toDeliveryJson,
  toEndpointJson,
} from '../format/webhook-record.ts';

const PAGE_LIMIT = { most: 100, usual: 20 };
const ACCOUNT_OPTION = { value: 'ID', means: 'the account of the endpoint', needed: true } as const;
/** The options of the lists of endpoints and deliveries. */
const PAGE_OPTIONS = {
  limit: limitOption(PAGE_LIMIT),
  after: { value: 'ID', means: 'continue after this id, for the next page' },
  wide: WIDE_OPTION,
} as const;

export const webhookCreate = defineCommand({
  summary: 'make a webhook endpoint and show its secret once',
  words: '',
  options: {
    account: ACCOUNT_OPTION,
    url: { value: 'URL', means: 'the URL that receives the events', needed: true },
    events: { value: 'A,B', means: 'the types of the events, such as video.completed,video.failed', needed: true },
    name: { value: 'TEXT', means: 'a name for the endpoint', needed: true },
    payload: { value: 'SIZE', means: 'how much an event carries; default: thin', choices: Object.keys(PAYLOADS) },
  },
  example: 'webhook create --account demo --name site --url https://site.example/hook --events video.completed',
  run: async ({ services, words, options }) => {
    assertNoWords(words);
    const { account = '', url = '', events = '', name = '', payload = '' } = options;
    const { endpoint, secret } = await services.webhooks.createWebhookEndpoint({
      accountId: account,
      name,
      url,
      eventTypes: parseEventTypes(events),
      payload: PAYLOADS[payload] ?? WebhookPayload.UNSPECIFIED,
    });
    return { answer: { ...toEndpointJson(endpoint), secret } };
  },
});

const ENDPOINT_COLUMNS: readonly Column<WebhookEndpoint>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ disabledAt, disabledReason }) => (disabledAt ? `disabled: ${disabledReason}` : 'enabled') },
  { title: 'FAILING SINCE', of: ({ failingSince }) => relativeTime(failingSince) },
  { title: 'NAME', of: ({ name }) => name, shrinks: true },
  { title: 'URL', of: ({ url }) => url, shrinks: true },
  { title: 'EVENTS', of: ({ eventTypes }) => eventTypes.join(','), shrinks: true },
  { title: 'PAYLOAD', of: ({ payload }) => payloadName(payload), isWide: true },
  { title: 'SECRET', of: ({ secretHint }) => secretHint, isWide: true },
  { title: 'CREATED AT', of: ({ createdAt }) => isoTime(createdAt) ?? '', isWide: true },
  { title: 'LAST SUCCESS', of: ({ lastSuccessAt }) => isoTime(lastSuccessAt) ?? '', isWide: true },
  { title: 'LAST FAILURE', of: ({ lastFailureAt }) => isoTime(lastFailureAt) ?? '', isWide: true },
];

export const webhookList = defineCommand({
  summary: 'list the webhook endpoints of an account, newest first',
  words: '',
  options: { account: { value: 'ID', means: 'the account', needed: true }, ...PAGE_OPTIONS },
  example: 'webhook list --account demo',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const query = { accountId: options.account ?? '', ...pageQuery(options) };
    const { endpoints } = await services.webhooks.listWebhookEndpoints(query);
    return toListOutcome(endpoints, toEndpointJson, ENDPOINT_COLUMNS, { terminal, options });
  },
});

export const webhookShow = defineCommand({
  summary: 'show a webhook endpoint; "default" is that of the URLs of requests',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'webhook show whe_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options }) => {
    const { endpoint } = await services.webhooks.getWebhookEndpoint(readEndpoint(words, options));
    return { answer: toEndpointJson(endpoint) };
  },
});

const STATUSES: Readonly<Partial<Record<string, boolean>>> = { enabled: false, disabled: true };

export const webhookUpdate = defineCommand({
  summary: 'change, disable or enable a webhook endpoint',
  words: 'ID',
  options: {
    account: ACCOUNT_OPTION,
    name: { value: 'TEXT', means: 'the new name' },
    url: { value: 'URL', means: 'the new URL; it also enables the endpoint' },
    events: { value: 'A,B', means: 'the new types of events, all of them' },
    payload: { value: 'SIZE', means: 'how much an event carries', choices: Object.keys(PAYLOADS) },
    status: { value: 'STATUS', means: 'whether events are delivered', choices: Object.keys(STATUSES) },
  },
  example: 'webhook update whe_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo --status enabled',
  run: async ({ services, words, options }) => {
    const endpoint = readEndpoint(words, options);
    const { account: _account, ...changes } = options;
    if (Object.keys(changes).length === 0) throw new WrongCall('name a setting to change');
    const { name, url, events = '', payload = '', status = '' } = changes;
    const disabled = STATUSES[status];
    const updated = await services.webhooks.updateWebhookEndpoint({
      ...endpoint,
      ...(name === undefined ? {} : { name }),
      ...(url === undefined ? {} : { url }),
      eventTypes: parseEventTypes(events),
      payload: PAYLOADS[payload] ?? WebhookPayload.UNSPECIFIED,
      ...(disabled === undefined ? {} : { disabled }),
    });
    return { answer: toEndpointJson(updated.endpoint) };
  },
});

export const webhookDelete = defineCommand({
  summary: 'remove a webhook endpoint; its pending deliveries end',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'webhook delete whe_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options }) => {
    const endpoint = readEndpoint(words, options);
    await services.webhooks.deleteWebhookEndpoint(endpoint);
    return { answer: { id: endpoint.endpointId, deleted: true } };
  },
});

export const webhookRotate = defineCommand({
  summary: 'replace the secret of a webhook endpoint and show the new one once',
  words: 'ID',
  options: {
    account: ACCOUNT_OPTION,
    'keep-old': { means: 'sign with both secrets for 24 hours' },
  },
  example: 'webhook rotate default --account demo --keep-old',
  run: async ({ services, words, options }) => {
    const { endpoint, secret } = await services.webhooks.rotateWebhookSecret({
      ...readEndpoint(words, options),
      keepOldSecret: options['keep-old'] === true,
    });
    return { answer: { ...toEndpointJson(endpoint), secret } };
  },
});

const TYPE_DEFAULT = 'video.completed';

export const webhookTest = defineCommand({
  summary: 'send a sample event to a webhook endpoint',
  words: 'ID',
  options: {
    account: ACCOUNT_OPTION,
    event: { value: 'TYPE', means: `the type of the event; default: ${TYPE_DEFAULT}` },
  },
  example: 'webhook test whe_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo --event video.failed',
  run: async ({ services, words, options }) => {
    const { statusCode } = await services.webhooks.testWebhookEndpoint({
      ...readEndpoint(words, options),
      eventType: options.event ?? TYPE_DEFAULT,
    });
    return { answer: { status_code: statusCode }, ok: statusCode >= 200 && statusCode < 300 };
  },
});

const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: ({ state }) => deliveryStateName(state) },
  { title: 'TYPE', of: ({ eventType }) => eventType },
  { title: 'CREATED', of: ({ createdAt }) => relativeTime(createdAt) },
  { title: 'ATTEMPTS', of: ({ attemptCount }) => String(attemptCount) },
  { title: 'NEXT', of: ({ nextAttemptAt }) => relativeTime(nextAttemptAt) },
  { title: 'STATUS', of: ({ lastStatusCode }) => String(lastStatusCode || '') },
  { title: 'ERROR', of: ({ lastError }) => lastError, shrinks: true },
  { title: 'SUBJECT', of: ({ subjectId }) => subjectId, isWide: true },
  { title: 'EVENT', of: ({ eventId }) => eventId, isWide: true },
  { title: 'URL', of: ({ url }) => url, isWide: true },
  { title: 'CREATED AT', of: ({ createdAt }) => isoTime(createdAt) ?? '', isWide: true },
  { title: 'ENDED AT', of: ({ endedAt }) => isoTime(endedAt) ?? '', isWide: true },
];

export const webhookDeliveries = defineCommand({
  summary: 'list the deliveries to a webhook endpoint, newest first',
  words: 'ID',
  options: {
    account: ACCOUNT_OPTION,
    state: { value: 'STATE', means: 'only this state', choices: Object.keys(DELIVERY_STATES) },
    ...PAGE_OPTIONS,
  },
  example: 'webhook deliveries whe_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo --state failed',
  run: async ({ services, words, options, terminal }) => {
    const { deliveries } = await services.webhooks.listWebhookDeliveries({
      ...readEndpoint(words, options),
      ...pageQuery(options),
      state: DELIVERY_STATES[options.state ?? ''] ?? WebhookDeliveryState.UNSPECIFIED,
    });
    return toListOutcome(deliveries, toDeliveryJson, DELIVERY_COLUMNS, { terminal, options });
  },
});

export const webhookDelivery = defineCommand({
  summary: 'show a delivery with its attempts',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'webhook delivery whd_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options }) => {
    const { delivery } = await services.webhooks.getWebhookDelivery(readDelivery(words, options));
    return { answer: toDeliveryJson(delivery) };
  },
});

export const webhookResend = defineCommand({
  summary: 'send a delivery again at once',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'webhook resend whd_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options }) => {
    const { delivery } = await services.webhooks.resendWebhookDelivery(readDelivery(words, options));
    return { answer: toDeliveryJson(delivery) };
  },
});

/** The most deliveries that one call of the service resends. */
const CALL_MAX = 1000;
const CALLS_MAX = 100;

export const webhookResendFailed = defineCommand({
  summary: 'send the failed deliveries to a webhook endpoint again',
  words: 'ID',
  options: {
    account: ACCOUNT_OPTION,
    since: { value: 'DURATION', means: 'those that were made since this long ago, such as 24h', needed: true },
  },
  example: 'webhook resend-failed whe_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo --since 24h',
  run: async ({ services, words, options }) => {
    const endpoint = readEndpoint(words, options);
    const since = ago(options.since ?? '');
    let resent = 0;
    for (let calls = 0; calls < CALLS_MAX; calls += 1) {
      const some = await services.webhooks.resendFailedWebhookDeliveries({ ...endpoint, since });
      resent += some.resent;
      if (some.resent < CALL_MAX) return { answer: { resent, all: true } };
    }
    return { answer: { resent, all: false } };
  },
});

function pageQuery({ limit, after = '' }: { limit?: string; after?: string }): {
  readonly limit: number;
  readonly after: string;
} {
  return { limit: readLimit(limit, PAGE_LIMIT), after };
}

/** The endpoint that a command is called with. */
function readEndpoint(
  words: readonly string[],
  { account = '' }: { account?: string },
): { readonly accountId: string; readonly endpointId: string } {
  return { accountId: account, endpointId: readSingleId(words, 'endpoint') };
}

/** The delivery that a command is called with. */
function readDelivery(
  words: readonly string[],
  { account = '' }: { account?: string },
): { readonly accountId: string; readonly deliveryId: string } {
  return { accountId: account, deliveryId: readSingleId(words, 'delivery') };
}

/** The event types of a list such as `video.completed,video.failed`. */
function parseEventTypes(list: string): string[] {
  return list
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
}

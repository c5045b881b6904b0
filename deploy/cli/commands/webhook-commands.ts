import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import {
  WebhookDeliverySchema,
  WebhookDeliveryState,
  WebhookEndpointSchema,
  WebhookPayload,
} from '@reelgate/proto/tasks/v1/webhook';
import { WrongCall, assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { limitOption, readLimit } from '../format/list-options.ts';
import { WIDE_OPTION, listColumns, toListOutcome } from '../format/table.ts';
import { ago, relativeTime } from '../format/times.ts';

const PAYLOADS: Readonly<Record<string, WebhookPayload>> = deriveValues(WebhookPayload);
const DELIVERY_STATES: Readonly<Record<string, WebhookDeliveryState>> = deriveValues(WebhookDeliveryState);

const PAGE_LIMIT = { most: 100, usual: 20 };
const ACCOUNT_OPTION = { value: 'ID', means: 'the account of the endpoint', needed: true } as const;
/** The options of the lists of endpoints and deliveries. */
const PAGE_OPTIONS = {
  limit: limitOption(PAGE_LIMIT),
  after: { value: 'ID', means: 'continue after this id, for the next page' },
  wide: WIDE_OPTION,
} as const;

export const webhookCreate = defineCommand({
  summary: 'create a webhook endpoint and show its secret once',
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
    return {
      answer: await services.webhooks.createWebhookEndpoint({
        accountId: account,
        name,
        url,
        eventTypes: parseEventTypes(events),
        payload: PAYLOADS[payload] ?? WebhookPayload.UNSPECIFIED,
      }),
    };
  },
});

const ENDPOINT_COLUMNS = listColumns(WebhookEndpointSchema, [
  'id',
  { title: 'STATUS', of: ({ disabledAt, disabledReason }) => (disabledAt ? `disabled: ${disabledReason}` : 'enabled') },
  'failingSince',
  { field: 'name', shrinks: true },
  { field: 'url', shrinks: true },
  { field: 'eventTypes', title: 'EVENTS', shrinks: true },
  { field: 'payload', isWide: true },
  { field: 'secretHint', title: 'SECRET', isWide: true },
  { field: 'createdAt', isWide: true },
  { field: 'lastSuccessAt', isWide: true },
  { field: 'lastFailureAt', isWide: true },
]);

export const webhookList = defineCommand({
  summary: 'list the webhook endpoints of an account, newest first',
  words: '',
  options: { account: { value: 'ID', means: 'the account', needed: true }, ...PAGE_OPTIONS },
  example: 'webhook list --account demo',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const query = { accountId: options.account ?? '', ...pageQuery(options) };
    const answer = await services.webhooks.listWebhookEndpoints(query);
    return toListOutcome(answer, answer.endpoints, ENDPOINT_COLUMNS, { terminal, options });
  },
});

export const webhookShow = defineCommand({
  summary: 'show a webhook endpoint; "default" stands for the URLs of requests',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'webhook show whe_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options }) => ({
    answer: await services.webhooks.getWebhookEndpoint(readEndpoint(words, options)),
  }),
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
    return {
      answer: await services.webhooks.updateWebhookEndpoint({
        ...endpoint,
        ...(name === undefined ? {} : { name }),
        ...(url === undefined ? {} : { url }),
        eventTypes: parseEventTypes(events),
        payload: PAYLOADS[payload] ?? WebhookPayload.UNSPECIFIED,
        ...(disabled === undefined ? {} : { disabled }),
      }),
    };
  },
});

export const webhookDelete = defineCommand({
  summary: 'remove a webhook endpoint; its pending deliveries end',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'webhook delete whe_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options }) => {
    const endpoint = readEndpoint(words, options);
    return {
      answer: await services.webhooks.deleteWebhookEndpoint(endpoint),
      text: `${endpoint.endpointId} is deleted`,
    };
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
  run: async ({ services, words, options }) => ({
    answer: await services.webhooks.rotateWebhookSecret({
      ...readEndpoint(words, options),
      keepOldSecret: options['keep-old'] === true,
    }),
  }),
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
    const answer = await services.webhooks.testWebhookEndpoint({
      ...readEndpoint(words, options),
      eventType: options.event ?? TYPE_DEFAULT,
    });
    return { answer, ok: answer.statusCode >= 200 && answer.statusCode < 300 };
  },
});

const DELIVERY_COLUMNS = listColumns(WebhookDeliverySchema, [
  'id',
  'state',
  { field: 'eventType', title: 'TYPE' },
  'createdAt',
  { field: 'attemptCount', title: 'ATTEMPTS' },
  { title: 'NEXT', of: ({ nextAttemptAt }) => relativeTime(nextAttemptAt) },
  { field: 'lastStatusCode', title: 'STATUS', isBlankAtZero: true },
  { field: 'lastError', title: 'ERROR', shrinks: true },
  { field: 'subjectId', isWide: true },
  { field: 'eventId', isWide: true },
  { field: 'url', isWide: true },
  { field: 'endedAt', isWide: true },
]);

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
    const answer = await services.webhooks.listWebhookDeliveries({
      ...readEndpoint(words, options),
      ...pageQuery(options),
      state: DELIVERY_STATES[options.state ?? ''] ?? WebhookDeliveryState.UNSPECIFIED,
    });
    return toListOutcome(answer, answer.deliveries, DELIVERY_COLUMNS, { terminal, options });
  },
});

export const webhookDelivery = defineCommand({
  summary: 'show a delivery with its attempts',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'webhook delivery whd_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options }) => ({
    answer: await services.webhooks.getWebhookDelivery(readDelivery(words, options)),
  }),
});

export const webhookResend = defineCommand({
  summary: 'send a delivery again at once',
  words: 'ID',
  options: { account: ACCOUNT_OPTION },
  example: 'webhook resend whd_06f2k3h8v0s7m1q9c4x5b2n6d0 --account demo',
  run: async ({ services, words, options }) => ({
    answer: await services.webhooks.resendWebhookDelivery(readDelivery(words, options)),
  }),
});

/** The maximum number of deliveries that one call of the service resends. */
const CALL_MAX = 1000;
const CALLS_MAX = 100;

export const webhookResendFailed = defineCommand({
  summary: 'send the failed deliveries to a webhook endpoint again',
  words: 'ID',
  options: {
    account: ACCOUNT_OPTION,
    since: { value: 'DURATION', means: 'only deliveries that are at most this old, such as 24h', needed: true },
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

import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { WrongCall, defineCommand } from '../command.ts';
import { ACCOUNT_OPTION, readEndpoint, parseEventTypes } from '../format/webhook-options.ts';
import { PAYLOADS, toEndpointJson } from '../format/webhook-record.ts';

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

import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { defineCommand, assertNoWords } from '../command.ts';
import { ACCOUNT_OPTION, parseEventTypes } from '../format/webhook-options.ts';
import { PAYLOADS, toEndpointJson } from '../format/webhook-record.ts';

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

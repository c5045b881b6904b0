import { defineCommand } from '../command.ts';
import { ACCOUNT_OPTION, readEndpoint } from '../format/webhook-options.ts';
import { toEndpointJson } from '../format/webhook-record.ts';

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

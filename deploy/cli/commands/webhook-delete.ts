import { defineCommand } from '../command.ts';
import { ACCOUNT_OPTION, readEndpoint } from '../format/webhook-options.ts';

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

import { defineCommand } from '../command.ts';
import { ACCOUNT_OPTION, readEndpoint } from '../format/webhook-options.ts';
import { toEndpointJson } from '../format/webhook-record.ts';

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

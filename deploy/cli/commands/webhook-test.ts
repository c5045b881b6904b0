import { defineCommand } from '../command.ts';
import { ACCOUNT_OPTION, readEndpoint } from '../format/webhook-options.ts';

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

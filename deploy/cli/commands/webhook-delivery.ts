import { defineCommand } from '../command.ts';
import { ACCOUNT_OPTION, readDelivery } from '../format/webhook-options.ts';
import { toDeliveryJson } from '../format/webhook-record.ts';

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

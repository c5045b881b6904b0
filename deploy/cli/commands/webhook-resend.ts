import { defineCommand } from '../command.ts';
import { ACCOUNT_OPTION, readDelivery } from '../format/webhook-options.ts';
import { toDeliveryJson } from '../format/webhook-record.ts';

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

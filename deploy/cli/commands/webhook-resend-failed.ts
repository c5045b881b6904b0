import { defineCommand } from '../command.ts';
import { ago } from '../format/times.ts';
import { ACCOUNT_OPTION, readEndpoint } from '../format/webhook-options.ts';

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

import { WebhookDeliveryState } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookDelivery } from '@reelgate/proto/tasks/v1/webhook';
import { defineCommand } from '../command.ts';
import { asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { isoTime, relativeTime } from '../format/times.ts';
import { ACCOUNT_OPTION, PAGE_OPTIONS, readEndpoint, pageQuery } from '../format/webhook-options.ts';
import { DELIVERY_STATES, deliveryStateName, toDeliveryJson } from '../format/webhook-record.ts';

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: ({ state }) => deliveryStateName(state) },
  { title: 'TYPE', of: ({ eventType }) => eventType },
  { title: 'CREATED', of: ({ createdAt }) => relativeTime(createdAt) },
  { title: 'ATTEMPTS', of: ({ attemptCount }) => String(attemptCount) },
  { title: 'NEXT', of: ({ nextAttemptAt }) => relativeTime(nextAttemptAt) },
  { title: 'STATUS', of: ({ lastStatusCode }) => String(lastStatusCode || '') },
  { title: 'ERROR', of: ({ lastError }) => lastError, shrinks: true },
  { title: 'SUBJECT', of: ({ subjectId }) => subjectId, isWide: true },
  { title: 'EVENT', of: ({ eventId }) => eventId, isWide: true },
  { title: 'URL', of: ({ url }) => url, isWide: true },
  { title: 'CREATED AT', of: ({ createdAt }) => isoTime(createdAt) ?? '', isWide: true },
  { title: 'ENDED AT', of: ({ endedAt }) => isoTime(endedAt) ?? '', isWide: true },
];

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
    const { deliveries } = await services.webhooks.listWebhookDeliveries({
      ...readEndpoint(words, options),
      ...pageQuery(options),
      state: DELIVERY_STATES[options.state ?? ''] ?? WebhookDeliveryState.UNSPECIFIED,
    });
    return {
      answer: deliveries.map(toDeliveryJson),
      text: asTable(deliveries, COLUMNS, { terminal, isWide: options.wide }),
    };
  },
});

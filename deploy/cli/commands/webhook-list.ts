import type { WebhookEndpoint } from '@reelgate/proto/tasks/v1/webhook';
import { defineCommand, assertNoWords } from '../command.ts';
import { asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { isoTime, relativeTime } from '../format/times.ts';
import { PAGE_OPTIONS, pageQuery } from '../format/webhook-options.ts';
import { payloadName, toEndpointJson } from '../format/webhook-record.ts';

const COLUMNS: readonly Column<WebhookEndpoint>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ disabledAt, disabledReason }) => (disabledAt ? `disabled: ${disabledReason}` : 'enabled') },
  { title: 'FAILING SINCE', of: ({ failingSince }) => relativeTime(failingSince) },
  { title: 'NAME', of: ({ name }) => name, shrinks: true },
  { title: 'URL', of: ({ url }) => url, shrinks: true },
  { title: 'EVENTS', of: ({ eventTypes }) => eventTypes.join(','), shrinks: true },
  { title: 'PAYLOAD', of: ({ payload }) => payloadName(payload), isWide: true },
  { title: 'SECRET', of: ({ secretHint }) => secretHint, isWide: true },
  { title: 'CREATED AT', of: ({ createdAt }) => isoTime(createdAt) ?? '', isWide: true },
  { title: 'LAST SUCCESS', of: ({ lastSuccessAt }) => isoTime(lastSuccessAt) ?? '', isWide: true },
  { title: 'LAST FAILURE', of: ({ lastFailureAt }) => isoTime(lastFailureAt) ?? '', isWide: true },
];

export const webhookList = defineCommand({
  summary: 'list the webhook endpoints of an account, newest first',
  words: '',
  options: { account: { value: 'ID', means: 'the account', needed: true }, ...PAGE_OPTIONS },
  example: 'webhook list --account demo',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const query = { accountId: options.account ?? '', ...pageQuery(options) };
    const { endpoints } = await services.webhooks.listWebhookEndpoints(query);
    return {
      answer: endpoints.map(toEndpointJson),
      text: asTable(endpoints, COLUMNS, { terminal, isWide: options.wide }),
    };
  },
});

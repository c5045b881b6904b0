import type { Schema } from '../dialect.ts';

const CHARACTERS_MAX = 2048;
const description =
  'An HTTPS URL that is told when the task ends. Its deliveries are signed with the secret of the endpoint `default`.';

/** The field as a body is checked for it; the tasks service judges the URL. */
export const webhookUrlSchema = {
  type: 'string',
  minLength: 1,
  maxLength: CHARACTERS_MAX,
  description,
} as const satisfies Schema;

/** The field as it is documented. */
export const documentedWebhookUrl: Schema = {
  title: 'WebhookUrl',
  ...webhookUrlSchema,
  pattern: '^https?://',
  examples: ['https://example.com/webhooks'],
};

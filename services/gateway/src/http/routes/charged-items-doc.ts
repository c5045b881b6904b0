import { objectSchema } from '../../domain/schema.ts';
import type { RouteDoc } from './route.ts';
import { SPAN_PARAMETERS, SUM, USAGE_FORMATS } from './usage-doc.ts';

const ITEM = {
  id: { type: 'string', description: 'The task, the job or the call.' },
  settled_at: { type: 'string', format: 'date-time' },
  model: { type: 'string' },
  token: { type: 'string', description: 'The id of the token that ordered it.' },
  token_name: { type: 'string' },
  label: { type: 'string', description: 'Empty: it has none.' },
  basis: {
    enum: ['usage', 'estimate', 'hold', 'unknown'],
    description:
      'The source of the charge: usage that was reported or counted, an estimate (of the order, or of what an answer ' +
      'had delivered when it broke off), or the whole hold.',
  },
  ...SUM,
} as const;

/** A page of the list as JSON. */
export const itemPageSchema = {
  title: 'ChargedItems',
  ...objectSchema({
    object: { const: 'list' },
    account: { type: 'string' },
    currency: { type: 'string' },
    from: { type: 'string', format: 'date-time' },
    to: { type: 'string', format: 'date-time', description: 'The exclusive end of the list.' },
    data: { type: 'array', items: objectSchema(ITEM) },
    has_more: { type: 'boolean' },
    next_after: { type: ['string', 'null'], description: 'The value of `after` for the next page.' },
  }),
} as const;

/** The documentation of `GET /v1/usage/items` in OpenAPI, without its answers. */
export const chargedItemsDoc: Omit<RouteDoc, 'answers'> = {
  tag: 'Usage',
  operationId: 'listChargedItems',
  summary: 'List the charged tasks and calls of the account one by one',
  description:
    'The oldest settlement comes first. JSON has a page, CSV has the whole period with at most 100000 charges. ' +
    'A list covers at most 366 days.',
  parameters: [
    ...SPAN_PARAMETERS,
    { name: 'limit', description: 'The most items of a page.', schema: { type: 'integer', minimum: 1, maximum: 1000 } },
    { name: 'after', description: '`next_after` of the page before.', schema: { type: 'string', maxLength: 300 } },
    {
      name: 'format',
      description: 'The format of the list. `Accept: text/csv` selects csv too.',
      schema: { enum: [...Object.keys(USAGE_FORMATS), ''], default: 'json' },
    },
  ],
  answerHeaders: ['content-disposition'],
  refuses: [400],
};

import type { PageRequest } from '../../clients/webhooks-client.ts';
import type { QueryParameter } from '../../dialects/dialect.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { readWholeNumber } from '../../dialects/wire/query-values.ts';
import { PLAUSIBLE_ID } from './plausible-id.ts';

const LIMIT = { min: 1, max: 100, fallback: 20 };

/** The query of a list, the newest entry first. */
export const PAGE_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'after',
    description: 'Start after this entry.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{0,64}$' },
  },
  {
    name: 'limit',
    description: 'The number of entries on a page.',
    schema: { type: 'integer', minimum: LIMIT.min, maximum: LIMIT.max, default: LIMIT.fallback },
  },
];

export function readPage(query: URLSearchParams): PageRequest {
  const after = query.get('after') || undefined;
  if (after !== undefined && !PLAUSIBLE_ID.test(after))
    throw invalid('after', 'must be the id of the last entry of the page before', 'invalid_request');
  return { limit: readWholeNumber(query, 'limit', LIMIT), after };
}

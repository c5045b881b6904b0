import { LABEL, LABEL_RULE } from '../../domain/label.ts';
import { newAnswer } from '../../domain/schema.ts';
import type { ListRoute } from '../dialect.ts';
import { encodePage, pageSchema } from '../wire/list-page.ts';
import { readWholeNumber, readEnumValue } from '../wire/query-values.ts';
import { invalid } from '../wire/body-validator.ts';
import { encodeShownVideo, videoSchema } from './encode.ts';

const LIMIT = { min: 1, max: 100, fallback: 20 };
const TASK_ID_CHARACTERS_MAX = 64;

export const listVideos: ListRoute = {
  path: '/v1/videos',
  operationId: 'listVideos',
  summary: 'List tasks of every kind, newest first',
  parameters: [
    { name: 'after', description: 'Start after this task.', schema: { type: 'string' } },
    {
      name: 'limit',
      description: 'The number of tasks on a page.',
      schema: { type: 'integer', minimum: LIMIT.min, maximum: LIMIT.max, default: LIMIT.fallback },
    },
    {
      name: 'order',
      description: 'The order by creation time.',
      schema: { enum: ['asc', 'desc', ''], default: 'desc' },
    },
    { name: 'label', description: 'Only tasks with this label.', schema: { type: 'string', pattern: LABEL.source } },
  ],
  answer: newAnswer(pageSchema('VideoPage', videoSchema), ({ tasks, hasMore, charges }, links) =>
    encodePage(tasks, hasMore, (task) => encodeShownVideo(task, links, charges.get(task.id))),
  ),
  showsCharges: true,
  decode: (query) => ({
    limit: readWholeNumber(query, 'limit', LIMIT),
    after: readAfter(query),
    ascending: readEnumValue(query, 'order', { asc: true, desc: false }) ?? false,
    ...readLabelFilter(query),
  }),
};

function readLabelFilter(query: URLSearchParams): { readonly label?: string } {
  const label = query.get('label');
  if (label === null) return {};
  if (LABEL.test(label)) return { label };
  throw invalid('label', LABEL_RULE);
}

function readAfter(query: URLSearchParams): string {
  const after = query.get('after') ?? '';
  if (after.length <= TASK_ID_CHARACTERS_MAX) return after;
  throw invalid('after', 'must be the id of a task', 'invalid_request');
}

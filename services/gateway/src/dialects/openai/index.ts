import { newAnswer, objectSchema } from '../../domain/schema.ts';
import type { Dialect, ListRoute } from '../dialect.ts';
import { KNOWN_FIELDS } from './create-body.ts';
import { decodeCreate } from './decode.ts';
import { createBody, createForm } from './documented-create.ts';
import { encodeReadVideo, encodeVideo, videoSchema, encodeShownVideo } from './encode.ts';
import { remixVideo } from './remix-video.ts';
import { encodePage, pageSchema } from '../wire/list-page.ts';
import { ANNOTATION_PARAMETERS, readAnnotations, readEnumValue, readWholeNumber } from '../wire/query-values.ts';
import { invalid } from '../wire/body-validator.ts';

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
    ...ANNOTATION_PARAMETERS,
  ],
  answer: newAnswer(pageSchema('VideoPage', videoSchema), ({ tasks, hasMore, charges }, links) =>
    encodePage(tasks, hasMore, (task) => encodeShownVideo(task, links, charges.get(task.id))),
  ),
  showsCharges: true,
  decode: (query) => ({
    limit: readWholeNumber(query, 'limit', LIMIT),
    after: readAfter(query),
    ascending: readEnumValue(query, 'order', { asc: true, desc: false }) ?? false,
    ...readAnnotations(query),
  }),
};

function readAfter(query: URLSearchParams): string {
  const after = query.get('after') ?? '';
  if (after.length <= TASK_ID_CHARACTERS_MAX) return after;
  throw invalid('after', 'must be the id of a task', 'invalid_request');
}

const deletedSchema = {
  title: 'DeletedVideo',
  ...objectSchema({ id: { type: 'string' }, object: { const: 'video.deleted' }, deleted: { const: true } }),
} as const;

/** The shape of the OpenAI videos API, with this service's additions. */
export const openai: Dialect = {
  name: 'Videos (compatibility)',
  creates: [
    {
      path: '/v1/videos',
      operationId: 'createVideo',
      summary: 'Create a video task',
      description:
        'A body with a non-empty `source_task_id` or one base_video item is a regeneration. ' +
        'Any other body is a generation. A field that is not listed here is refused with `unknown_field`, unless a ' +
        'generator of the model takes it with this value, such as `seed` or `negative_prompt`.',
      body: createBody,
      form: createForm,
      known: KNOWN_FIELDS,
      decode: decodeCreate,
      answer: newAnswer(videoSchema, encodeVideo),
    },
    remixVideo,
  ],
  reads: [
    {
      path: '/v1/videos/{task_id}',
      operationId: 'getVideo',
      summary: 'Read a task',
      answer: newAnswer(videoSchema, encodeReadVideo),
      showsCharge: true,
    },
  ],
  lists: [listVideos],
  ends: [
    {
      method: 'POST',
      path: '/v1/videos/{task_id}/cancel',
      operationId: 'cancelVideo',
      summary: 'Cancel a queued task',
      ends: 'cancel',
      answer: newAnswer(videoSchema, encodeVideo),
    },
    {
      method: 'DELETE',
      path: '/v1/videos/{task_id}',
      operationId: 'deleteVideo',
      summary: 'Delete a finished task and its result',
      ends: 'delete',
      answer: newAnswer(deletedSchema, (id) => ({ id, object: 'video.deleted', deleted: true })),
    },
  ],
};

import { newAnswer, objectSchema } from '../../domain/schema.ts';
import type { Dialect } from '../dialect.ts';
import { KNOWN_FIELDS } from './create-body.ts';
import { decodeCreate } from './decode.ts';
import { createBody, createForm } from './documented-create.ts';
import { encodeReadVideo, encodeVideo, videoSchema } from './encode.ts';
import { listVideos } from './list-videos.ts';
import { remixVideo } from './remix-video.ts';

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

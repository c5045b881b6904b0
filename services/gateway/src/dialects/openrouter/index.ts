import { newAnswer } from '../../domain/schema.ts';
import type { Dialect } from '../dialect.ts';
import { decodeOpenRouter } from './decode.ts';
import { createBody } from './documented-body.ts';
import { createdSchema, encodeCreated, encodeVideo, videoSchema } from './encode.ts';

/** The videos API of OpenRouter. Its clients have the base address `/api/v1`. */
export const openrouter: Dialect = {
  name: 'Videos (OpenRouter shape)',
  refusals: { envelope: 'openrouter', from: '/api/v1' },
  creates: [
    {
      path: '/api/v1/videos',
      operationId: 'createOpenRouterVideo',
      summary: 'Create a generation in the shape of OpenRouter',
      description:
        'A field that is not listed here is refused with `unknown_field`, unless a generator of the model takes it with ' +
        'this value, such as `negative_prompt`.',
      status: 202,
      body: createBody,
      decode: decodeOpenRouter,
      answer: newAnswer(createdSchema, encodeCreated),
    },
  ],
  reads: [
    {
      path: '/api/v1/videos/{task_id}',
      operationId: 'getOpenRouterVideo',
      summary: 'Read a task',
      answer: newAnswer(videoSchema, encodeVideo),
      showsCharge: true,
    },
  ],
  lists: [],
  ends: [],
};

import { newAnswer, objectSchema } from '../../domain/schema.ts';
import type { CreateRoute, Dialect } from '../dialect.ts';
import type { Schema } from '../../domain/schema.ts';
import { createdTaskSchema, encodeCreatedTask, encodeQuery, queryAnswerSchema } from './encode.ts';
import { decodeContextIr, decodeGeneration, decodeRegeneration } from './decode.ts';
import { contextIrBody, generationBody, regenerationBody } from './documented-bodies.ts';
import { listTasks } from './list-tasks.ts';

const cancelledSchema = {
  title: 'CancelledTask',
  ...objectSchema({ task_id: { type: 'string' }, action: { enum: ['cancelled'] }, status: { enum: ['cancelled'] } }),
} as const;

const newCreateRoute = (
  path: string,
  operationId: string,
  summary: string,
  rest: { readonly body: Schema; readonly decode: CreateRoute['decode'] },
): CreateRoute => ({ path, operationId, summary, answer: newAnswer(createdTaskSchema, encodeCreatedTask), ...rest });

/** The vendor's own paths. Each path has one strict body and one kind of task. */
export const vendor: Dialect = {
  name: 'Video tasks (vendor shape)',
  refusals: { envelope: 'vendor', from: '/v2' },
  creates: [
    newCreateRoute('/v2/video_generation', 'generateVideo', 'Create a generation', {
      body: generationBody,
      decode: decodeGeneration,
    }),
    newCreateRoute('/v2/video_regeneration', 'regenerateVideo', 'Render a 768P video again at 2K', {
      body: regenerationBody,
      decode: decodeRegeneration,
    }),
    newCreateRoute('/v2/h3_context_ir', 'enhancePrompt', 'Create an enhanced prompt', {
      body: contextIrBody,
      decode: decodeContextIr,
    }),
  ],
  reads: [
    {
      path: '/v2/query/video_generation/{task_id}',
      operationId: 'queryVideoTask',
      summary: 'Read a task',
      answer: newAnswer(queryAnswerSchema, encodeQuery),
    },
  ],
  lists: [listTasks],
  ends: [
    {
      method: 'DELETE',
      path: '/v2/video_generation/{task_id}',
      operationId: 'cancelVideoTask',
      summary: 'Cancel a queued task',
      ends: 'cancel',
      answer: newAnswer(cancelledSchema, ({ id }) => ({ task_id: id, action: 'cancelled', status: 'cancelled' })),
    },
  ],
};

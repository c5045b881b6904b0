import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { CreateRoute } from '../dialect.ts';
import { newAnswer, objectSchema } from '../../domain/schema.ts';
import type { Schema } from '../../domain/schema.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import { ALPHA, REGENERATED } from '../wire/documented-content.ts';
import { bodyValidator } from '../wire/body-validator.ts';
import {
  boundSchema,
  documentedBound,
  documentedWebhookUrl,
  readBound,
  webhookUrlSchema,
} from '../wire/flat-fields.ts';

/** Has the id under two names, because OpenAI's clients poll `id`. */
const remixedSchema = {
  title: 'RemixedVideo',
  ...objectSchema({ id: { type: 'string' }, task_id: { type: 'string', description: 'An alias of id.' } }),
} as const;

const remixSchema = objectSchema(
  {
    model: { type: 'string', description: 'Exactly Alpha-H3.', examples: ['Alpha-H3'] },
    resolution: { type: 'string', description: 'Exactly 2K.', examples: ['2K'] },
    webhook_url: webhookUrlSchema,
    ...boundSchema,
  },
  ['webhook_url', 'max_amount', 'currency'],
);

const documentedRemix: Schema = {
  title: 'VideoRemix',
  type: 'object',
  required: ['model', 'resolution'],
  additionalProperties: false,
  properties: { model: ALPHA, resolution: REGENERATED, webhook_url: documentedWebhookUrl, ...documentedBound },
};

const shape = bodyValidator(remixSchema, '; send {"model": "Alpha-H3", "resolution": "2K"}');

/** Renders an earlier video again at 2K. */
export const remixVideo: CreateRoute = {
  path: '/v1/videos/{video_id}/remix',
  operationId: 'remixVideo',
  summary: 'Render an earlier 768P video again at 2K',
  body: documentedRemix,
  decode: (body, { params }) => {
    const { model, resolution, webhook_url: webhookUrl, ...bound } = shape('json' in body ? body.json : undefined);
    return toDecodedOrder({
      order: { kind: TaskKind.REGENERATION, model, resolution, sourceTaskId: params['video_id'] ?? '' },
      items: [],
      names: { source_task_id: 'video_id' },
      webhookUrl,
      ...readBound(bound),
    });
  },
  answer: newAnswer(remixedSchema, ({ id }) => ({ id, task_id: id })),
};

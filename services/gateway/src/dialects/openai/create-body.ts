import type { ClientBody, FormFile } from '../dialect.ts';
import type { Properties, TypeOf } from '../../domain/schema.ts';
import { bodyValidator } from '../wire/body-validator.ts';
import { contentSchema } from '../wire/content-items.ts';
import { boundSchema, clientSchemas, dropNulls, sizeSchema, webhookUrlSchema } from '../wire/flat-fields.ts';
import { pictureSchemas } from '../wire/pictures.ts';
import { assertMetadata } from '../wire/unknown-fields.ts';
import { readForm } from './read-form.ts';

const fields = {
  model: { type: 'string', description: 'The id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The text that describes the video.' },
  seconds: { type: ['string', 'integer'], description: 'The length in whole seconds.', examples: ['5'] },
  size: sizeSchema,
  source_task_id: { type: 'string', description: 'The id of a finished 768P task to render again at 2K.' },
  action: { type: 'string', description: 'generation or regeneration. It must match the rest of the body.' },
  content: contentSchema,
  ...pictureSchemas,
  resolution: {
    type: 'string',
    description: 'A regeneration takes only 2K, which is also its default.',
    examples: ['2K'],
  },
  duration: { type: ['string', 'integer'], description: 'An alias of seconds.' },
  ratio: { type: 'string', description: 'Such as 16:9. It overrides size.', examples: ['16:9'] },
  aspect_ratio: { type: 'string', description: 'An alias of ratio.' },
  aigc_watermark: { type: 'boolean', description: 'Only for a regeneration: whether the result has the watermark.' },
  ...clientSchemas,
  webhook_url: webhookUrlSchema,
  ...boundSchema,
} as const satisfies Properties;

/** Only names and types. Unknown fields are judged by `readExtra` and by the channels. */
const createSchema = { type: 'object', required: ['model'], properties: fields } as const;

export type VideoBody = TypeOf<typeof createSchema>;
/** The members that tell a generation from a regeneration. */
export type KindEvidence = Pick<VideoBody, 'source_task_id' | 'action' | 'content'>;

export const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

const shape = bodyValidator(createSchema);

/** The fields of the body, and the first frame if the client sent it as a file. */
export function readBody(body: ClientBody): { readonly fields: VideoBody; readonly firstFrame: FormFile | undefined } {
  const { fields: written, firstFrame } =
    'json' in body ? { fields: dropNulls(body.json), firstFrame: undefined } : readForm(body.form, KNOWN_FIELDS);
  const read = shape(written);
  assertMetadata(read.metadata);
  return { fields: read, firstFrame };
}

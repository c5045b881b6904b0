import type { ClientBody, FormFile, Schema } from '../dialect.ts';
import { contentSchema } from '../wire/content-items.ts';
import type { WireItem } from '../wire/content-items.ts';
import { sizeSchema, dropNulls } from '../wire/flat-fields.ts';
import type { FlatFields } from '../wire/flat-fields.ts';
import { bodyValidator } from '../wire/body-validator.ts';
import { webhookUrlSchema } from '../wire/webhook-url.ts';
import { readForm } from './read-form.ts';

/** The members that tell a generation from a regeneration. */
export interface KindEvidence {
  readonly source_task_id?: string;
  readonly action?: string;
  readonly content?: readonly WireItem[];
}

export interface CompatBody extends FlatFields, KindEvidence {
  readonly model: string;
  readonly prompt?: string;
  readonly input_reference?: string | { readonly image_url: string };
  readonly aigc_watermark?: boolean;
  readonly webhook_url?: string;
}

export const inputReference: Schema = {
  description: 'The first frame: a URL, a data URL or base64. A form can carry the file itself.',
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      required: ['image_url'],
      additionalProperties: false,
      properties: { image_url: { type: 'string', minLength: 1 } },
    },
  ],
};

const fields = {
  model: { type: 'string', description: 'The id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The text that describes the video.' },
  seconds: { type: ['string', 'integer'], description: 'The length in whole seconds.', examples: ['5'] },
  size: sizeSchema,
  source_task_id: { type: 'string', description: 'The id of a finished 768P task to render again at 2K.' },
  action: { type: 'string', description: 'generation or regeneration. It must match the rest of the body.' },
  content: contentSchema,
  input_reference: inputReference,
  resolution: {
    type: 'string',
    description: 'A regeneration takes only 2K, which is also its default.',
    examples: ['2K'],
  },
  duration: { type: ['string', 'integer'], description: 'An alias of seconds.' },
  ratio: { type: 'string', description: 'Such as 16:9. It overrides size.', examples: ['16:9'] },
  aigc_watermark: { type: 'boolean', description: 'Only for a regeneration: whether the result has the watermark.' },
  webhook_url: webhookUrlSchema,
} as const satisfies Readonly<Record<keyof CompatBody, Schema>>;

/** Only names and types. Unknown fields are passed to channels that support them. */
const createSchema: Schema = { type: 'object', required: ['model'], properties: fields };

export const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

const shape = bodyValidator<CompatBody>(createSchema);

/** The fields of the body, and the first frame if the client sent it as a file. */
export function readBody(body: ClientBody): { readonly fields: CompatBody; readonly firstFrame: FormFile | undefined } {
  if ('json' in body) return { fields: shape(dropNulls(body.json)), firstFrame: undefined };
  const { fields: written, firstFrame } = readForm(body.form);
  return { fields: shape(written), firstFrame };
}

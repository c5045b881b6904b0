import { objectSchema } from '../../domain/schema.ts';
import type { Properties, Schema, TypeOf } from '../../domain/schema.ts';
import { bodyValidator } from '../wire/body-validator.ts';
import { URL_OBJECT } from '../wire/content-items.ts';
import { boundSchema, clientSchemas, sizeSchema, webhookUrlSchema } from '../wire/flat-fields.ts';

const LIST_MAX = 16;
const SESSION_CHARACTERS_MAX = 256;

const frameImage = {
  title: 'FrameImage',
  ...objectSchema({
    type: { const: 'image_url' },
    image_url: URL_OBJECT,
    frame_type: { enum: ['first_frame', 'last_frame'] },
  }),
} as const;
export type FrameImage = TypeOf<typeof frameImage>;

const inputReference = {
  title: 'InputReference',
  oneOf: [
    { title: 'ImageReference', ...objectSchema({ type: { const: 'image_url' }, image_url: URL_OBJECT }) },
    { title: 'VideoReference', ...objectSchema({ type: { const: 'video_url' }, video_url: URL_OBJECT }) },
    { title: 'AudioReference', ...objectSchema({ type: { const: 'audio_url' }, audio_url: URL_OBJECT }) },
  ],
} as const satisfies Schema;
export type InputReference = TypeOf<typeof inputReference>;

const inputReferences = {
  type: 'array',
  maxItems: LIST_MAX,
  items: inputReference,
  description: 'Pictures, videos and sound to follow, which are no frames.',
} as const satisfies Schema;

/** The fields with the same meaning as in other dialects, as a body is checked for them and as they are documented. */
export const plainSchemas = {
  frame_images: {
    type: 'array',
    maxItems: LIST_MAX,
    items: frameImage,
    description: 'The first and the last frame.',
  },
  input_references: inputReferences,
  seed: { type: 'integer', description: 'The same seed asks for the same video. Refused if no generator takes it.' },
  generate_audio: { type: 'boolean', description: 'Whether sound is made. Refused if no generator takes it.' },
  n: clientSchemas.n,
  user: { ...clientSchemas.user, description: 'Who asks, in your own words. It is accepted, and not kept.' },
  session_id: {
    type: 'string',
    maxLength: SESSION_CHARACTERS_MAX,
    description: 'Your own word. It is accepted, and not kept: `Reelgate-Label` is.',
  },
  trace: { ...clientSchemas.metadata, title: 'ClientTrace' },
  provider: {
    title: 'ProviderOptions',
    type: 'object',
    additionalProperties: false,
    properties: { options: { type: 'object', maxProperties: 0 } },
    description: 'Empty: this service chooses the generator. Its fields stand beside the others.',
  },
} as const satisfies Properties;

const fields = {
  model: { type: 'string', description: 'The id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The text that describes the video.' },
  duration: { type: 'integer', description: 'The length in whole seconds.', examples: [5] },
  resolution: { type: 'string', description: 'Such as 768P, in any case. It overrides size.' },
  aspect_ratio: { type: 'string', description: 'Such as 16:9. It overrides size.' },
  size: sizeSchema,
  ...plainSchemas,
  // a refusal names the type of an item
  input_references: {
    ...inputReferences,
    items: { ...inputReference, type: 'object', required: ['type'], discriminator: { propertyName: 'type' } },
  },
  // any object passes here, and is refused with its reason
  provider: { type: 'object' },
  webhook_url: webhookUrlSchema,
  ...boundSchema,
} as const satisfies Properties;

const createSchema = { type: 'object', required: ['model'], properties: fields } as const;
export type CreateBody = TypeOf<typeof createSchema>;

export const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

/** Only names and types. Unknown fields are judged by `readExtra` and by the channels. */
export const readCreateBody = bodyValidator(createSchema);

import type { Schema } from '../dialect.ts';
import { bodyValidator } from '../wire/body-validator.ts';
import { URL_OBJECT } from '../wire/content-items.ts';
import { boundSchema, clientSchemas, sizeSchema, webhookUrlSchema } from '../wire/flat-fields.ts';
import type { BoundFields, ClientFields } from '../wire/flat-fields.ts';

const LIST_MAX = 16;
const SESSION_CHARACTERS_MAX = 256;

interface Address {
  readonly url: string;
}

export interface FrameImage {
  readonly type: 'image_url';
  readonly image_url: Address;
  readonly frame_type: 'first_frame' | 'last_frame';
}

export type InputReference =
  | { readonly type: 'image_url'; readonly image_url: Address }
  | { readonly type: 'video_url'; readonly video_url: Address }
  | { readonly type: 'audio_url'; readonly audio_url: Address };

/** Fields that only some generators can obey. */
interface ControlFields {
  readonly seed?: number;
  readonly generate_audio?: boolean;
}

export interface CreateBody extends BoundFields, ControlFields, Pick<ClientFields, 'n' | 'user'> {
  readonly model: string;
  readonly prompt?: string;
  readonly duration?: number;
  readonly resolution?: string;
  readonly aspect_ratio?: string;
  readonly size?: string;
  readonly frame_images?: readonly FrameImage[];
  readonly input_references?: readonly InputReference[];
  readonly session_id?: string;
  readonly trace?: ClientFields['metadata'];
  readonly provider?: { readonly options?: object };
  readonly webhook_url?: string;
}

const item = (type: 'image_url' | 'video_url' | 'audio_url', title: string, more: Schema = {}): Schema => ({
  title,
  type: 'object',
  required: ['type', type, ...Object.keys(more)],
  additionalProperties: false,
  properties: { type: { const: type }, [type]: URL_OBJECT, ...more },
});

const frameImages: Schema = {
  type: 'array',
  maxItems: LIST_MAX,
  items: item('image_url', 'FrameImage', { frame_type: { enum: ['first_frame', 'last_frame'] } }),
  description: 'The first and the last frame.',
};

const inputReference: Schema = {
  title: 'InputReference',
  oneOf: [
    item('image_url', 'ImageReference'),
    item('video_url', 'VideoReference'),
    item('audio_url', 'AudioReference'),
  ],
};

const inputReferences = {
  type: 'array',
  maxItems: LIST_MAX,
  items: inputReference,
  description: 'Pictures, videos and sound to follow, which are no frames.',
} as const satisfies Schema;

/** The fields that mean here what they mean everywhere, as a body is checked for them and as they are documented. */
export const plainSchemas = {
  frame_images: frameImages,
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
} as const satisfies Partial<Readonly<Record<keyof CreateBody, Schema>>>;

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
} as const satisfies Readonly<Record<keyof CreateBody, Schema>>;

export const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

/** Only names and types. Unknown fields are judged by `readExtra` and by the channels. */
export const readCreateBody = bodyValidator<CreateBody>({ type: 'object', required: ['model'], properties: fields });

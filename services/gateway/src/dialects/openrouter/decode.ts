import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { findModel } from '../../domain/model-defaults.ts';
import type { Model } from '../../domain/model-defaults.ts';
import { readOwn } from '../../domain/read-own.ts';
import type { ClientBody, DecodeContext, DecodedOrder } from '../dialect.ts';
import { invalid, bodyValidator } from '../wire/body-validator.ts';
import { readContent, URL_OBJECT } from '../wire/content-items.ts';
import type { WireItem } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import {
  dropNulls,
  readBound,
  readFlatFields,
  readPrompt,
  boundSchema,
  clientSchemas,
  sizeSchema,
  webhookUrlSchema,
} from '../wire/flat-fields.ts';
import { assertMetadata, readExtra } from '../wire/unknown-fields.ts';
import type { RightFields } from '../wire/unknown-fields.ts';
import { objectSchema } from '../../domain/schema.ts';
import type { Properties, Schema, TypeOf } from '../../domain/schema.ts';

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
type FrameImage = TypeOf<typeof frameImage>;

const inputReference = {
  title: 'InputReference',
  oneOf: [
    { title: 'ImageReference', ...objectSchema({ type: { const: 'image_url' }, image_url: URL_OBJECT }) },
    { title: 'VideoReference', ...objectSchema({ type: { const: 'video_url' }, video_url: URL_OBJECT }) },
    { title: 'AudioReference', ...objectSchema({ type: { const: 'audio_url' }, audio_url: URL_OBJECT }) },
  ],
} as const satisfies Schema;
type InputReference = TypeOf<typeof inputReference>;

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

const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

/** Only names and types. Unknown fields are judged by `readExtra` and by the channels. */
const readCreateBody = bodyValidator(createSchema);

const RIGHT_FIELDS: RightFields = {
  length: 'send duration',
  ratio: 'send aspect_ratio',
  lastFrame: 'send it in frame_images, with the frame_type last_frame',
  references: 'send input_references',
  pictures: 'send frame_images for the first and the last frame, input_references for others',
  video: 'send a video as a video_url item of input_references',
  sound: 'send sound as an audio_url item of input_references',
  soundMade: 'send generate_audio',
  source: 'send source_task_id to /v1/videos',
};

/** Fields of OpenRouter that have no meaning here, or a different one. */
const REFUSED: Readonly<Record<string, string>> = {
  callback_url: 'is not called: events have the form and the signature of this service; send webhook_url',
  previous_job_id:
    'is not served: no video is edited or extended; to render one again at 2K, send source_task_id to /v1/videos',
  creativity: 'belongs to models that upscale, and this service has none',
  upscale_factor: 'belongs to models that upscale, and this service has none',
};

/** Decodes `POST /api/v1/videos`, which is always a generation. */
export function decodeOpenRouter(body: ClientBody, { models }: DecodeContext): DecodedOrder {
  const written = dropNulls('json' in body ? body.json : undefined);
  assertServed(written);
  const fields = readCreateBody(written);
  assertMetadata(fields.trace, 'trace');
  assertChoosesNone(fields.provider);
  if (fields.prompt === undefined || fields.prompt.trim() === '')
    throw invalid('prompt', 'is required: describe the video here');
  const { frame_images: frames = [], input_references: references = [] } = fields;
  const model = findModel(models, fields.model);
  const { names, ...frame } = readFlatFields(toModelWords(fields, model), model);
  return toDecodedOrder({
    order: {
      kind: TaskKind.GENERATION,
      model: fields.model,
      ...frame,
      ...readExtra(fields, { known: KNOWN_FIELDS, passed: ['seed', 'generate_audio'], right: RIGHT_FIELDS }),
    },
    items: [
      ...readPrompt(fields.prompt, []),
      ...readContent(frames.map(toFrame), 'frame_images'),
      ...readContent(references.map(toReference), 'input_references'),
    ],
    names,
    known: KNOWN_FIELDS,
    right: RIGHT_FIELDS,
    webhookUrl: fields.webhook_url,
    ...readBound(fields),
  });
}

function assertServed(written: unknown): void {
  const refused = Object.keys(written ?? {}).find((name) => readOwn(REFUSED, name) !== undefined);
  if (refused !== undefined) throw invalid(refused, readOwn(REFUSED, refused) ?? '', 'unknown_field');
}

/** Refuses a wish for generators, which have no names here. Its options could mean another generator. */
function assertChoosesNone(provider: CreateBody['provider'] = {}): void {
  const { options, ...others } = provider;
  const isEmpty =
    options === undefined || (typeof options === 'object' && options !== null && Object.keys(options).length === 0);
  if (isEmpty && Object.keys(others).length === 0) return;
  throw invalid(
    'provider',
    'must be empty: this service chooses the generator; send a field of it beside the others, such as negative_prompt',
    'unknown_field',
  );
}

/** The resolution as the model spells it: clients write `768p`. */
function toModelWords(fields: CreateBody, { resolutions }: Model): CreateBody {
  const wanted = fields.resolution?.toLowerCase();
  const resolution = resolutions.find((one) => one.toLowerCase() === wanted);
  return resolution === undefined ? fields : { ...fields, resolution };
}

function toFrame({ frame_type: role, ...image }: FrameImage): WireItem {
  return { ...image, role };
}

function toReference(reference: InputReference): WireItem {
  if (reference.type === 'image_url') return { ...reference, role: 'reference_image' };
  return reference.type === 'video_url'
    ? { ...reference, role: 'reference_video' }
    : { ...reference, role: 'reference_audio' };
}

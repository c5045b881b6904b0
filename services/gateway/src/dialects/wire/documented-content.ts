import type { Schema } from '../../domain/schema.ts';
import { mediaItemSchema, textItemSchema } from './content-items.ts';
import type { Role } from './content-items.ts';
import { sizeSchema } from './flat-fields.ts';

/** The vendor's own limits on a text, in code points. */
const TEXT_MAX = 7000;
const FINAL_PROMPT_MAX = 40_000;

/** The tasks service refuses a text that is only white space. */
const WORDS = '\\S';
export const words: Schema = { type: 'string', pattern: WORDS, maxLength: TEXT_MAX };
export const ALPHA: Schema = { const: 'Alpha-H3' };
export const REGENERATED: Schema = { const: '2K', description: '2K is the only resolution.' };
export const nonEmpty: Schema = { type: 'string', minLength: 1 };

const text: Schema = {
  properties: { type: { const: 'text' }, text: { type: 'string', pattern: WORDS } },
  required: ['type', 'text'],
};
const roleIs = (role: Role): Schema => ({ properties: { role: { const: role } }, required: ['role'] });

const image = mediaItemSchema('image_url', 'ImageItem', ['first_frame', 'last_frame', 'reference_image']);
const audio = withRole(mediaItemSchema('audio_url', 'AudioItem', ['reference_audio']));
const referenceVideo = withRole(mediaItemSchema('video_url', 'ReferenceVideoItem', ['reference_video']));
const anyVideo = withRole(mediaItemSchema('video_url', 'VideoItem', ['reference_video', 'base_video']));

const ITEMS_MAX = 100;
const items = (title: string, oneOf: readonly Schema[]): Schema => ({ title, oneOf });
const array = (title: string, description: string, of: Schema, more: Schema): Schema => ({
  title,
  type: 'array',
  description,
  minItems: 1,
  maxItems: ITEMS_MAX,
  items: of,
  ...more,
});

const generationItem = items('ContentItem', [textItemSchema('TextItem', TEXT_MAX), image, referenceVideo, audio]);

/** The content of a generation or a context IR. */
export const generationContent: Schema = array(
  'GenerationContent',
  'Text and media for the model. Two images must have roles. Frames and references must not mix. ' +
    'Audio requires a reference image or video.',
  generationItem,
  { contains: text },
);

/** The content beside a flat prompt, which is the text. */
export const mediaContent: Schema = {
  title: 'MediaContent',
  type: 'array',
  description: 'Media for the model; the text is in prompt.',
  maxItems: ITEMS_MAX,
  items: items('MediaItem', [image, referenceVideo, audio]),
};

/** The content of a regeneration from a video (mode B). */
export const baseContent: Schema = array(
  'RegenerationContent',
  'One base_video, the final prompt of that video and its reference media.',
  items('RegenerationItem', [textItemSchema('FinalPromptItem', FINAL_PROMPT_MAX), image, anyVideo, audio]),
  { contains: roleIs('base_video'), minContains: 1, maxContains: 1, allOf: [{ contains: text }] },
);

/** Without media, a ratio other than adaptive is required. With media, the ratio can be any or absent. */
export const ratioRule: Schema = {
  anyOf: [
    { required: ['ratio'], properties: { ratio: { not: { const: 'adaptive' } } } },
    {
      properties: {
        content: { contains: { properties: { type: { enum: ['image_url', 'video_url', 'audio_url'] } } } },
      },
    },
  ],
};

/** Requires the role of a media item. Only an image without one has a meaning. */
function withRole<S extends Schema & { readonly required: readonly string[] }>(item: S): Schema {
  const [type, ...others] = item.required;
  return { ...item, required: [type, 'role', ...others] };
}

/** An open body accepts null for an optional field. */
export function orNull(properties: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, nullable(schema)]));
}

function nullable(schema: Schema): Schema {
  const { title, type, anyOf, ...rest } = schema;
  if (title !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (anyOf !== undefined) return { ...rest, anyOf: [...(anyOf as readonly Schema[]), { type: 'null' }] };
  if (type !== undefined) return { ...rest, type: [type, 'null'] };
  const { const: only, enum: values = [only], ...others } = rest;
  return { ...others, enum: [...(values as readonly unknown[]), null] };
}

const SECONDS_MAX = 2 ** 31 - 1;

/** The schemas of the flat fields for length and frame. The tasks service checks the values against the model. */
export const duration: Schema = {
  title: 'Duration',
  description: 'The length in whole seconds, within the range of the model.',
  examples: ['5'],
  anyOf: [
    { type: 'string', pattern: '^0*[1-9][0-9]{0,8}$' },
    { type: 'integer', minimum: 1, maximum: SECONDS_MAX },
  ],
};
export const size: Schema = {
  title: 'Size',
  type: 'string',
  pattern: '^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$',
  description: sizeSchema.description,
  examples: sizeSchema.examples,
};
export const ratio: Schema = {
  title: 'Ratio',
  type: 'string',
  minLength: 1,
  description: 'A ratio of the model, such as 16:9. It overrides size.',
  examples: ['16:9'],
};
export const aspectRatio: Schema = { ...ratio, title: 'AspectRatio', description: 'An alias of ratio.' };
export const resolution: Schema = {
  title: 'Resolution',
  type: 'string',
  minLength: 1,
  description: 'A resolution of the model, such as 768P. It overrides size.',
  examples: ['768P'],
};

import type { DecodedOrder } from '../dialects/dialect.ts';
import type { BoundFields } from '../dialects/wire/flat-fields.ts';
import type { OptionalMembers, Properties } from '../domain/schema.ts';
import { decodeCreate } from '../dialects/openai/decode.ts';
import { remixVideo } from '../dialects/openai/remix-video.ts';
import { invalid } from '../dialects/wire/body-validator.ts';
import { dropUndefined } from '../dialects/wire/task-fields.ts';
import { inClientTerms } from '../operations/submit-order.ts';
import type { ToolCall, ToolParts } from './mcp-tool.ts';
import { buildObjectSchema } from './mcp-tool.ts';
import { readVideo } from './read-video.ts';

const ITEMS_MAX = 16;
const URL_MAX = 4096;
const PROMPT_MAX = 32_000;
const ITEM_TYPES = {
  first_frame: 'image_url',
  last_frame: 'image_url',
  reference_image: 'image_url',
  reference_video: 'video_url',
  reference_audio: 'audio_url',
} as const;

/** The arguments that describe a video. The tasks service checks their values against the model. */
export const videoArguments = {
  model: { type: 'string', maxLength: 200, description: 'An id of video_models. Required without source_id.' },
  prompt: { type: 'string', maxLength: PROMPT_MAX, description: 'What the video shows. Required without source_id.' },
  seconds: { type: 'integer', description: 'The length; default: that of the model.' },
  resolution: { type: 'string', maxLength: 40, description: 'Such as 768P. With source_id: 2K.' },
  ratio: { type: 'string', maxLength: 40, description: 'Such as 16:9.' },
  media: {
    type: 'array',
    maxItems: ITEMS_MAX,
    description: 'Pictures, videos and sound to follow.',
    items: buildObjectSchema(
      {
        role: { type: 'string', enum: Object.keys(ITEM_TYPES) as readonly (keyof typeof ITEM_TYPES)[] },
        url: {
          type: 'string',
          maxLength: URL_MAX,
          pattern: '^https?://',
          description: 'A public URL, or the link of a video of this service.',
        },
      },
      ['role', 'url'],
    ),
  },
  source_id: {
    type: 'string',
    maxLength: 64,
    description: 'The id of a finished 768P video to render again at 2K; then only model and resolution may be given.',
  },
} as const satisfies Properties;

/** A quote has no bound. */
export type VideoArguments = OptionalMembers<typeof videoArguments> & BoundFields;

/** Decodes the arguments into the order that the HTTP routes would decode. */
export async function decodeVideoOrder(
  parts: ToolParts,
  { source_id: sourceId, max_amount, currency, ...args }: VideoArguments,
  call: ToolCall,
): Promise<DecodedOrder> {
  const context = { models: parts.catalogue().models, params: {} };
  const bound = dropUndefined({ max_amount, currency });
  if (sourceId === undefined)
    return inToolTerms(() => {
      const { model, prompt, seconds, resolution, ratio, media = [] } = args;
      if (model === undefined) throw invalid('model', 'is required: an id of video_models');
      const content = media.map(({ role, url }) => ({ type: ITEM_TYPES[role], role, [ITEM_TYPES[role]]: { url } }));
      return decodeCreate(
        { json: dropUndefined({ model, prompt, seconds, resolution, ratio, content, ...bound }) },
        context,
      );
    });
  const other = (['prompt', 'seconds', 'ratio', 'media'] as const).find((name) => args[name] !== undefined);
  if (other !== undefined) throw invalid(other, 'must not be given with source_id, whose video decides it');
  const model = args.model ?? (await readVideo(parts, sourceId, call)).order?.model;
  return inToolTerms(() =>
    remixVideo.decode(
      { json: { model, resolution: args.resolution ?? '2K', ...bound } },
      { ...context, params: { video_id: sourceId } },
    ),
  );
}

/** Lets a refusal name the argument, both while the order is decoded and later. */
async function inToolTerms(decode: () => DecodedOrder): Promise<DecodedOrder> {
  const decoded = await inClientTerms({ clientField: toArgument }, (async () => decode())());
  return { ...decoded, clientField: (field) => toArgument(decoded.clientField(field)) };
}

function toArgument(field: string): string {
  if (field === 'video_id' || field === 'source_task_id') return 'source_id';
  return field.replace(/^content\b/, 'media').replace(/\.(?:image|video|audio)_url(?:\.url)?$/, '.url');
}

import { MediaKind, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { FrameSize } from '../../domain/frame-size.ts';
import { findModel } from '../../domain/model-defaults.ts';
import type { ClientBody, DecodeContext, DecodedOrder, Schema } from '../dialect.ts';
import { readContent, readMedia, contentSchema } from '../wire/content-items.ts';
import type { DecodedItem, WireItem } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import {
  assertHasPrompt,
  boundSchema,
  readBound,
  toExtraJson,
  readFlatFields,
  readPrompt,
  dropNulls,
  sizeSchema,
  webhookUrlSchema,
} from '../wire/flat-fields.ts';
import { invalid, bodyValidator } from '../wire/body-validator.ts';
import type { BoundFields, FlatFields } from '../wire/flat-fields.ts';

/** Decodes `POST /v1/video/generations`, which is always a generation. */
export function decodeGenerations(body: ClientBody, { models }: DecodeContext): DecodedOrder {
  const fields = readGenerations(dropNulls('json' in body ? body.json : undefined));
  const content = fields.content ?? [];
  const items = [...readPrompt(fields.prompt, content), ...readImages(fields), ...readContent(content)];
  assertHasPrompt(items);
  const { names, ...frame } = readFlatFields(fields, findModel(models, fields.model), readDimensions(fields));
  return toDecodedOrder({
    order: {
      kind: TaskKind.GENERATION,
      model: fields.model,
      ...frame,
      sourceTaskId: fields.source_task_id ?? '',
      extraJson: toExtraJson(fields, KNOWN_FIELDS),
    },
    items,
    names,
    webhookUrl: fields.webhook_url,
    ...readBound(fields),
  });
}

/** One image is the first frame; several are references. */
function readImages({ image, images = [] }: GenerationsBody): DecodedItem[] {
  const all = [
    ...(image === undefined ? [] : [{ url: image, field: 'image' }]),
    ...images.map((url, index) => ({ url, field: `images[${index}]` })),
  ];
  const role = all.length === 1 ? 'first_frame' : 'reference_image';
  return all.map(({ url, field }) => readMedia({ kind: MediaKind.IMAGE, role, url, field, bare: true }));
}

function readDimensions({ width, height, size }: GenerationsBody): FrameSize | undefined {
  if (width === undefined && height === undefined) return undefined;
  if (width === undefined || height === undefined)
    throw invalid(width === undefined ? 'width' : 'height', 'is required: send width and height together');
  if (size !== undefined && size !== `${width}x${height}`)
    throw invalid('size', 'must equal width x height; send one of them');
  return { width, height };
}

export interface GenerationsBody extends FlatFields, BoundFields {
  readonly model: string;
  readonly prompt?: string;
  readonly image?: string;
  readonly images?: readonly string[];
  readonly width?: number;
  readonly height?: number;
  readonly content?: readonly WireItem[];
  readonly n?: 1;
  readonly source_task_id?: string;
  readonly action?: string;
  readonly webhook_url?: string;
}

const IMAGES_MAX = 16;
const SIDE = { type: 'integer', minimum: 1, maximum: 99_999 };
const image: Schema = { type: 'string', minLength: 1, description: 'An image: a URL, a data URL or base64.' };

const fields = {
  model: { type: 'string', description: 'The id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The text that describes the video.' },
  image: { ...image, description: 'The first frame: a URL, a data URL or base64.' },
  images: {
    type: 'array',
    maxItems: IMAGES_MAX,
    items: image,
    description: 'One image is the first frame; several are references.',
  },
  duration: { type: ['integer', 'string'], description: 'The length in whole seconds.', examples: [5] },
  seconds: { type: ['integer', 'string'], description: 'An alias of duration.' },
  width: { ...SIDE, description: 'With height, an alternative to size.' },
  height: SIDE,
  size: sizeSchema,
  ratio: { type: 'string', description: 'Such as 16:9. It overrides size.' },
  resolution: { type: 'string', description: 'Such as 768P. It overrides size.' },
  content: contentSchema,
  n: { const: 1, description: 'A task makes one video.' },
  source_task_id: { type: 'string', description: 'Must be empty: this path only generates.' },
  action: { enum: ['generation', 'generate'], description: 'This path only generates.' },
  webhook_url: webhookUrlSchema,
  ...boundSchema,
} as const satisfies Readonly<Record<keyof GenerationsBody, Schema>>;

/** Other fields, such as seed, fps or metadata, are passed to channels that support them. */
const generationsSchema: Schema = { type: 'object', required: ['model'], properties: fields };

const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

const readGenerations = bodyValidator<GenerationsBody>(generationsSchema);

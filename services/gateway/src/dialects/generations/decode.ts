import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { FrameSize } from '../../domain/frame-size.ts';
import { findModel } from '../../domain/model-defaults.ts';
import type { ClientBody, DecodeContext, DecodedOrder } from '../dialect.ts';
import type { Properties, TypeOf } from '../../domain/schema.ts';
import { readContent, contentSchema } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import {
  assertHasPrompt,
  boundSchema,
  clientSchemas,
  readBound,
  readFlatFields,
  readPrompt,
  dropNulls,
  sizeSchema,
  webhookUrlSchema,
} from '../wire/flat-fields.ts';
import { invalid, bodyValidator } from '../wire/body-validator.ts';
import { pictureSchemas, readPictures } from '../wire/pictures.ts';
import { assertMetadata, readExtra } from '../wire/unknown-fields.ts';

/** Decodes `POST /v1/video/generations`, which is always a generation. */
export function decodeGenerations(body: ClientBody, { models }: DecodeContext): DecodedOrder {
  const fields = readGenerations(dropNulls('json' in body ? body.json : undefined));
  assertMetadata(fields.metadata);
  const content = fields.content ?? [];
  const items = [...readPrompt(fields.prompt, content), ...readPictures(fields), ...readContent(content)];
  assertHasPrompt(items);
  const { names, ...frame } = readFlatFields(fields, findModel(models, fields.model), readDimensions(fields));
  return toDecodedOrder({
    order: {
      kind: TaskKind.GENERATION,
      model: fields.model,
      ...frame,
      sourceTaskId: fields.source_task_id ?? '',
      ...readExtra(fields, { known: KNOWN_FIELDS, passed: ['user'], optional: Object.keys(controlSchemas) }),
    },
    items,
    names,
    known: KNOWN_FIELDS,
    webhookUrl: fields.webhook_url,
    ...readBound(fields),
  });
}

function readDimensions({ width, height, size }: GenerationsBody): FrameSize | undefined {
  if (width === undefined && height === undefined) return undefined;
  if (width === undefined || height === undefined)
    throw invalid(width === undefined ? 'width' : 'height', 'is required: send width and height together');
  if (size !== undefined && size !== `${width}x${height}`)
    throw invalid('size', 'must equal width x height; send one of them');
  return { width, height };
}

const SIDE = { type: 'integer', minimum: 1, maximum: 99_999 } as const;
const SEED_MAX = 2 ** 32 - 1;
const FPS_MAX = 240;

/**
 * Optional fields that only some generators support, as a body is checked for them and as they are documented. The
 * answer lists the fields that no generator uses.
 */
export const controlSchemas = {
  seed: {
    type: 'integer',
    minimum: 0,
    maximum: SEED_MAX,
    description: 'The same seed asks for the same video. `ignored` of the answer names it if no generator takes it.',
  },
  fps: {
    type: 'integer',
    minimum: 1,
    maximum: FPS_MAX,
    description: 'Frames in a second. `ignored` of the answer names it if no generator takes it.',
  },
} as const satisfies Properties;

const fields = {
  model: { type: 'string', description: 'The id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The text that describes the video.' },
  ...pictureSchemas,
  duration: { type: ['integer', 'string'], description: 'The length in whole seconds.', examples: [5] },
  seconds: { type: ['integer', 'string'], description: 'An alias of duration.' },
  width: { ...SIDE, description: 'With height, an alternative to size.' },
  height: SIDE,
  size: sizeSchema,
  ratio: { type: 'string', description: 'Such as 16:9. It overrides size.' },
  aspect_ratio: { type: 'string', description: 'An alias of ratio.' },
  resolution: { type: 'string', description: 'Such as 768P. It overrides size.' },
  content: contentSchema,
  ...clientSchemas,
  ...controlSchemas,
  response_format: { const: 'url', description: 'The answer has a link.' },
  source_task_id: { type: 'string', description: 'Must be empty: this path only generates.' },
  action: { enum: ['generation', 'generate'], description: 'This path only generates.' },
  webhook_url: webhookUrlSchema,
  ...boundSchema,
} as const satisfies Properties;

/** Only names and types. Unknown fields are judged by `readExtra` and by the channels. */
const generationsSchema = { type: 'object', required: ['model'], properties: fields } as const;

export type GenerationsBody = TypeOf<typeof generationsSchema>;

const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

const readGenerations = bodyValidator(generationsSchema);

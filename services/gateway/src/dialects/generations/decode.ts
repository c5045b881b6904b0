import { MediaKind, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { FrameSize } from '../../domain/frame-size.ts';
import { findModel } from '../../domain/model-defaults.ts';
import type { ClientBody, DecodeContext, DecodedOrder } from '../dialect.ts';
import { readContent, readMedia } from '../wire/content-items.ts';
import type { DecodedItem } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import { assertHasPrompt, toExtraJson, readFlatFields, readPrompt, dropNulls } from '../wire/flat-fields.ts';
import { invalid } from '../wire/body-validator.ts';
import { KNOWN_FIELDS, readGenerations } from './generations-body.ts';
import type { GenerationsBody } from './generations-body.ts';

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

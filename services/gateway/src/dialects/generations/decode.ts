import { MediaKind, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { FrameSize } from '../../domain/frame-size.ts';
import { modelOf } from '../../domain/model-defaults.ts';
import type { ClientBody, DecodeContext, Decoded } from '../dialect.ts';
import { readContent, readMedia } from '../wire/content-items.ts';
import type { ReadItem } from '../wire/content-items.ts';
import { toDecoded } from '../wire/decoded.ts';
import { assertPrompted, extraOf, readFlatFields, readPrompt, withoutNulls } from '../wire/flat-fields.ts';
import { invalid } from '../wire/body-validator.ts';
import { KNOWN_FIELDS, readGenerations } from './generations-body.ts';
import type { GenerationsBody } from './generations-body.ts';

/** Decodes `POST /v1/video/generations`, which is always a generation. */
export function decodeGenerations(body: ClientBody, { models }: DecodeContext): Decoded {
  const fields = readGenerations(withoutNulls('json' in body ? body.json : undefined));
  const content = fields.content ?? [];
  const items = [...readPrompt(fields.prompt, content), ...readImages(fields), ...readContent(content)];
  assertPrompted(items);
  const { names, ...frame } = readFlatFields(fields, modelOf(models, fields.model), dimensionsOf(fields));
  return toDecoded({
    order: {
      kind: TaskKind.GENERATION,
      model: fields.model,
      ...frame,
      sourceTaskId: fields.source_task_id ?? '',
      extraJson: extraOf(fields, KNOWN_FIELDS),
    },
    items,
    names,
    webhookUrl: fields.webhook_url,
  });
}

/** One image is the first frame; several are references. */
function readImages({ image, images = [] }: GenerationsBody): ReadItem[] {
  const all = [
    ...(image === undefined ? [] : [{ url: image, field: 'image' }]),
    ...images.map((url, index) => ({ url, field: `images[${index}]` })),
  ];
  const role = all.length === 1 ? 'first_frame' : 'reference_image';
  return all.map(({ url, field }) => readMedia({ kind: MediaKind.IMAGE, role, url, field, bare: true }));
}

function dimensionsOf({ width, height, size }: GenerationsBody): FrameSize | undefined {
  if (width === undefined && height === undefined) return undefined;
  if (width === undefined || height === undefined)
    throw invalid(width === undefined ? 'width' : 'height', 'is required: send width and height together');
  if (size !== undefined && size !== `${width}x${height}`)
    throw invalid('size', 'must equal width x height; send one of them');
  return { width, height };
}

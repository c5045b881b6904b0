import { MediaKind, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { findModel } from '../../domain/model-defaults.ts';
import type { ClientBody, DecodeContext, DecodedOrder, FormFile } from '../dialect.ts';
import { readContent, readMedia, toWireMedia } from '../wire/content-items.ts';
import type { DecodedItem } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import { assertHasPrompt, readBound, toExtraJson, readFlatFields, readPrompt } from '../wire/flat-fields.ts';
import { assertDeclaredFamily, invalidMedia } from '../wire/data-url.ts';
import { invalid } from '../wire/body-validator.ts';
import { KNOWN_FIELDS, readBody } from './create-body.ts';
import type { VideoBody } from './create-body.ts';
import { classify } from './classify.ts';

const REGENERATION_RESOLUTION = '2K';
const FIRST_FRAME = 'input_reference';
/**
 * Types that say nothing about the bytes. The parser assumes `text/plain` for a part without a type, as Python's
 * `requests` sends it.
 */
const UNSPECIFIC_TYPES: ReadonlySet<string> = new Set(['application/octet-stream', 'text/plain']);

/** Decodes `POST /v1/videos`. The body decides whether it is a generation or a regeneration. */
export function decodeCreate(body: ClientBody, { models }: DecodeContext): DecodedOrder {
  const { fields, firstFrame } = readBody(body);
  const classified = classify(fields);
  if ('conflict' in classified) {
    const { field, message, reason } = classified.conflict;
    throw invalid(field, message, reason);
  }
  const media = [...readFirstFrame(fields.input_reference, firstFrame), ...readContent(fields.content ?? [])];
  if (classified.kind === 'regeneration') return decodeRegeneration(fields, media);
  const items = [...readPrompt(fields.prompt, fields.content ?? []), ...media];
  assertHasPrompt(items);
  const { names, ...frame } = readFlatFields(fields, findModel(models, fields.model));
  return toDecodedOrder({
    order: {
      kind: TaskKind.GENERATION,
      model: fields.model,
      ...frame,
      extraJson: toExtraJson(
        fields,
        KNOWN_FIELDS.filter((name) => name !== 'aigc_watermark'),
      ),
    },
    items,
    names,
    webhookUrl: fields.webhook_url,
    ...readBound(fields),
  });
}

/** The source determines length and frame. With a source task, the prompt of that task overrides the body's. */
function decodeRegeneration(fields: VideoBody, media: readonly DecodedItem[]): DecodedOrder {
  const {
    model,
    resolution = REGENERATION_RESOLUTION,
    source_task_id: sourceTaskId = '',
    aigc_watermark: aigcWatermark,
  } = fields;
  const prompt = sourceTaskId === '' ? readPrompt(fields.prompt, fields.content ?? []) : [];
  return toDecodedOrder({
    order: {
      kind: TaskKind.REGENERATION,
      model,
      resolution,
      sourceTaskId,
      extraJson: toExtraJson(fields, KNOWN_FIELDS),
      ...(aigcWatermark === undefined ? {} : { aigcWatermark }),
    },
    items: [...prompt, ...media],
    webhookUrl: fields.webhook_url,
    ...readBound(fields),
  });
}

function readFirstFrame(address: VideoBody['input_reference'], file: FormFile | undefined): DecodedItem[] {
  if (file !== undefined) return [readFrameFile(file)];
  if (address === undefined) return [];
  const url = typeof address === 'string' ? address : address.image_url;
  return [readMedia({ kind: MediaKind.IMAGE, role: 'first_frame', url, field: FIRST_FRAME, bare: true })];
}

function readFrameFile({ mediaType, chunks }: FormFile): DecodedItem {
  if (chunks.length === 0) throw invalidMedia(FIRST_FRAME, 'must not be an empty file');
  const declaredType = UNSPECIFIC_TYPES.has(mediaType) ? '' : mediaType;
  if (declaredType !== '') assertDeclaredFamily(declaredType, MediaKind.IMAGE, FIRST_FRAME);
  return {
    item: toWireMedia(MediaKind.IMAGE, 'first_frame', { declaredType }),
    field: FIRST_FRAME,
    inline: { field: FIRST_FRAME, declaredType, bytes: { chunks } },
  };
}

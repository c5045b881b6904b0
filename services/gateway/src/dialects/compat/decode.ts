import { MediaKind, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { modelOf } from '../../domain/model-defaults.ts';
import type { ClientBody, DecodeContext, Decoded, FormFile } from '../dialect.ts';
import { mediaInit, readContent, readMedia } from '../wire/content-items.ts';
import type { ReadItem } from '../wire/content-items.ts';
import { toDecoded } from '../wire/decoded.ts';
import { assertPrompted, extraOf, readFlatFields, readPrompt } from '../wire/flat-fields.ts';
import { assertDeclared, invalidMedia } from '../wire/data-url.ts';
import { invalid } from '../wire/body-validator.ts';
import { KNOWN_FIELDS, readBody } from './create-body.ts';
import type { CompatBody } from './create-body.ts';
import { classify } from './classify.ts';

const REGENERATION_RESOLUTION = '2K';
const FIRST_FRAME = 'input_reference';
/**
 * Types that say nothing about the bytes. The parser assumes `text/plain` for a part without a type, as Python's
 * `requests` sends it.
 */
const UNSPECIFIC_TYPES: ReadonlySet<string> = new Set(['application/octet-stream', 'text/plain']);

/** Decodes `POST /v1/videos`. The body decides whether it is a generation or a regeneration. */
export function decodeCreate(body: ClientBody, { models }: DecodeContext): Decoded {
  const { fields, firstFrame } = readBody(body);
  const classified = classify(fields);
  if ('conflict' in classified) {
    const { field, message, reason } = classified.conflict;
    throw invalid(field, message, reason);
  }
  const media = [...readFirstFrame(fields.input_reference, firstFrame), ...readContent(fields.content ?? [])];
  if (classified.kind === 'regeneration') return regeneration(fields, media);
  const items = [...readPrompt(fields.prompt, fields.content ?? []), ...media];
  assertPrompted(items);
  const { names, ...frame } = readFlatFields(fields, modelOf(models, fields.model));
  return toDecoded({
    order: {
      kind: TaskKind.GENERATION,
      model: fields.model,
      ...frame,
      extraJson: extraOf(
        fields,
        KNOWN_FIELDS.filter((name) => name !== 'aigc_watermark'),
      ),
    },
    items,
    names,
    webhookUrl: fields.webhook_url,
  });
}

/** The source determines length and frame. With a source task, the prompt of that task overrides the body's. */
function regeneration(fields: CompatBody, media: readonly ReadItem[]): Decoded {
  const {
    model,
    resolution = REGENERATION_RESOLUTION,
    source_task_id: sourceTaskId = '',
    aigc_watermark: aigcWatermark,
  } = fields;
  const prompt = sourceTaskId === '' ? readPrompt(fields.prompt, fields.content ?? []) : [];
  return toDecoded({
    order: {
      kind: TaskKind.REGENERATION,
      model,
      resolution,
      sourceTaskId,
      extraJson: extraOf(fields, KNOWN_FIELDS),
      ...(aigcWatermark === undefined ? {} : { aigcWatermark }),
    },
    items: [...prompt, ...media],
    webhookUrl: fields.webhook_url,
  });
}

function readFirstFrame(address: CompatBody['input_reference'], file: FormFile | undefined): ReadItem[] {
  if (file !== undefined) return [readFile(file)];
  if (address === undefined) return [];
  const url = typeof address === 'string' ? address : address.image_url;
  return [readMedia({ kind: MediaKind.IMAGE, role: 'first_frame', url, field: FIRST_FRAME, bare: true })];
}

function readFile({ mediaType, chunks }: FormFile): ReadItem {
  if (chunks.length === 0) throw invalidMedia(FIRST_FRAME, 'must not be an empty file');
  const declaredType = UNSPECIFIC_TYPES.has(mediaType) ? '' : mediaType;
  if (declaredType !== '') assertDeclared(declaredType, MediaKind.IMAGE, FIRST_FRAME);
  return {
    item: mediaInit(MediaKind.IMAGE, 'first_frame', { declaredType }),
    field: FIRST_FRAME,
    inline: { field: FIRST_FRAME, declaredType, bytes: { chunks } },
  };
}

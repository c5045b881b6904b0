import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { findModel } from '../../domain/model-defaults.ts';
import type { ClientBody, DecodeContext, DecodedOrder } from '../dialect.ts';
import { readContent } from '../wire/content-items.ts';
import type { DecodedItem } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import { assertHasPrompt, readBound, readFlatFields, readPrompt } from '../wire/flat-fields.ts';
import { invalid } from '../wire/body-validator.ts';
import { readPictures } from '../wire/pictures.ts';
import { readExtra } from '../wire/unknown-fields.ts';
import { KNOWN_FIELDS, readBody } from './create-body.ts';
import type { VideoBody } from './create-body.ts';
import { classify } from './classify.ts';

const REGENERATION_RESOLUTION = '2K';
/** The fields that the source of a regeneration decides. */
const OF_SOURCE = ['seconds', 'duration', 'size', 'ratio', 'aspect_ratio'] as const;

/** Decodes `POST /v1/videos`. The body decides whether it is a generation or a regeneration. */
export function decodeCreate(body: ClientBody, { models }: DecodeContext): DecodedOrder {
  const { fields, firstFrame } = readBody(body);
  const classified = classify(fields);
  if ('conflict' in classified) {
    const { field, message, reason } = classified.conflict;
    throw invalid(field, message, reason);
  }
  const media = [...readPictures(fields, firstFrame), ...readContent(fields.content ?? [])];
  if (classified.kind === 'regeneration') return decodeRegeneration(fields, media);
  const items = [...readPrompt(fields.prompt, fields.content ?? []), ...media];
  assertHasPrompt(items);
  const { names, ...frame } = readFlatFields(fields, findModel(models, fields.model));
  return toDecodedOrder({
    order: {
      kind: TaskKind.GENERATION,
      model: fields.model,
      ...frame,
      ...readExtra(fields, { known: KNOWN_FIELDS, passed: ['user', 'aigc_watermark'] }),
    },
    items,
    names,
    known: KNOWN_FIELDS,
    webhookUrl: fields.webhook_url,
    ...readBound(fields),
  });
}

/** The source determines length and frame. With a source task, the prompt of that task overrides the body's. */
function decodeRegeneration(fields: VideoBody, media: readonly DecodedItem[]): DecodedOrder {
  const decided = OF_SOURCE.find((name) => fields[name] !== undefined);
  if (decided !== undefined) throw invalid(decided, 'must not be given for a regeneration, whose source decides it');
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
      ...readExtra(fields, { known: KNOWN_FIELDS, passed: ['user'] }),
      ...(aigcWatermark === undefined ? {} : { aigcWatermark }),
    },
    items: [...prompt, ...media],
    known: KNOWN_FIELDS,
    webhookUrl: fields.webhook_url,
    ...readBound(fields),
  });
}

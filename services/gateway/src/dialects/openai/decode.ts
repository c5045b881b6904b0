import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { findModel } from '../../domain/model-defaults.ts';
import type { ClientBody, DecodeContext, DecodedOrder } from '../dialect.ts';
import { readContent, hasRole } from '../wire/content-items.ts';
import type { DecodedItem } from '../wire/content-items.ts';
import { toDecodedOrder } from '../wire/decoded.ts';
import { assertHasPrompt, readBound, readFlatFields, readPrompt } from '../wire/flat-fields.ts';
import { invalid } from '../wire/body-validator.ts';
import { readPictures } from '../wire/pictures.ts';
import { readExtra } from '../wire/unknown-fields.ts';
import { KNOWN_FIELDS, readBody } from './create-body.ts';
import type { VideoBody, KindEvidence } from './create-body.ts';

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

type VideoKind = 'generation' | 'regeneration';

type Classification = { readonly kind: VideoKind } | { readonly conflict: Conflict };

interface Conflict {
  readonly reason: 'conflicting_source' | 'invalid_action';
  readonly field: string;
  readonly message: string;
}

const ACTIONS: Readonly<Record<string, VideoKind>> = {
  generation: 'generation',
  generate: 'generation',
  regeneration: 'regeneration',
  regenerate: 'regeneration',
};

/** Decides whether the body is a generation or a regeneration, or finds the conflict in it. */
export function classify({ source_task_id: source = '', content = [], action }: KindEvidence): Classification {
  const bases = content.filter((item) => hasRole(item, 'base_video')).length;
  if (source !== '' && bases > 0)
    return newConflict('source_task_id', 'must not be given together with a base_video item; send one of them');
  if (bases > 1) return newConflict('content', `must have at most one base_video item; it has ${bases}`);
  const kind = source !== '' || bases === 1 ? 'regeneration' : 'generation';
  return action === undefined ? { kind } : checkAction(action, kind);
}

function checkAction(action: string, kind: VideoKind): Classification {
  const wanted = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (wanted === kind) return { kind };
  const message =
    wanted === undefined
      ? `must be generation or regeneration; it is ${JSON.stringify(action.slice(0, 40))}`
      : `is ${action}, but the body describes a ${kind}; a regeneration has source_task_id or a base_video item`;
  return { conflict: { reason: 'invalid_action', field: 'action', message } };
}

function newConflict(field: string, message: string): Classification {
  return { conflict: { reason: 'conflicting_source', field, message } };
}

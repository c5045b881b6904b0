import type { Draft, Kind, MediaItem, MediaRole } from '../vendor-order.ts';
import { invalidParams } from '../vendor-refusal.ts';
import { concreteRatios, resolutions } from '../render/frame-format.ts';
import { readContent, type Content, isHttpUrl } from './body-content.ts';
import { ifPresent, readChoice, readFields, readFlag, readText, readWhole, type Fields } from './fields.ts';

const fieldsOf: Readonly<Record<Kind, readonly string[]>> = {
  generation: ['model', 'content', 'resolution', 'duration', 'ratio', 'callback_url', 'aigc_watermark', 'extra'],
  regeneration: ['model', 'content', 'resolution', 'source_task_id', 'callback_url', 'aigc_watermark'],
  h3_context_ir: ['model', 'content', 'duration', 'ratio', 'callback_url'],
};

const ratios = ['adaptive', ...concreteRatios] as const;
const seconds = [4, 15] as const;
const textCodePointsMax = 7000;
const regenerationTextCodePointsMax = 40_000;

const readers: Readonly<Record<Kind, (fields: Fields) => Draft>> = {
  generation: readGeneration,
  regeneration: readRegeneration,
  h3_context_ir: readContextIr,
};

/** Reads a create body as strictly as the vendor's documentation. It accepts any model name. */
export function readCreate(kind: Kind, body: unknown): Draft {
  return readers[kind](readFields(body, fieldsOf[kind], 'the body'));
}

function readGeneration(fields: Fields): Draft {
  const content = readContent(fields['content'], { textCodePointsMax, baseVideo: false });
  ifPresent(fields, 'aigc_watermark', readFlag);
  ifPresent(fields, 'extra', readExtra);
  return {
    ...readShared('generation', fields, content),
    resolution: readChoice(fields, 'resolution', resolutions),
    duration: readWhole(fields, 'duration', seconds),
    ratio: readRatio(fields, findMode(content.media)),
    sourceTaskId: undefined,
  };
}

function readContextIr(fields: Fields): Draft {
  const content = readContent(fields['content'], { textCodePointsMax, baseVideo: false });
  return {
    ...readShared('h3_context_ir', fields, content),
    resolution: undefined,
    duration: readWhole(fields, 'duration', seconds),
    ratio: readRatio(fields, findMode(content.media)),
    sourceTaskId: undefined,
  };
}

function readRegeneration(fields: Fields): Draft {
  const sourceTaskId = ifPresent(fields, 'source_task_id', readText);
  if ((sourceTaskId === undefined) === (fields['content'] === undefined))
    throw invalidParams('exactly one of source_task_id and content is required');
  const content = sourceTaskId === undefined ? readBaseContent(fields['content']) : { text: '', media: [] };
  ifPresent(fields, 'aigc_watermark', readFlag);
  return {
    ...readShared('regeneration', fields, content),
    resolution: readChoice(fields, 'resolution', ['2K'] as const),
    duration: undefined,
    ratio: undefined,
    sourceTaskId,
  };
}

function readBaseContent(value: unknown): Content {
  const content = readContent(value, { textCodePointsMax: regenerationTextCodePointsMax, baseVideo: true });
  findMode(content.media);
  if (!content.media.some((item) => item.role === 'base_video'))
    throw invalidParams('content must include exactly one video_url of role base_video');
  return content;
}

function readShared(kind: Kind, fields: Fields, { text, media }: Content) {
  return {
    kind,
    model: readText(fields, 'model'),
    text,
    media,
    callbackUrl: ifPresent(fields, 'callback_url', readCallbackUrl),
  };
}

/** Frames determine the ratio, so a valid ratio next to frames is accepted and has no effect. */
function readRatio(fields: Fields, mode: Mode): Draft['ratio'] {
  const ratio = ifPresent(fields, 'ratio', (within, name) => readChoice(within, name, ratios)) ?? 'adaptive';
  if (mode === 'text' && ratio === 'adaptive')
    throw invalidParams('ratio is required and cannot be adaptive when content is text only');
  return mode === 'frames' ? 'adaptive' : ratio;
}

function readExtra(fields: Fields): void {
  const extra = readFields(fields['extra'], ['prompt_expansion_mode'], 'extra');
  ifPresent(extra, 'prompt_expansion_mode', () =>
    readChoice(extra, 'prompt_expansion_mode', ['disabled', 'balanced', 'quality']),
  );
}

function readCallbackUrl(fields: Fields, name: string): string {
  const url = readText(fields, name);
  if (!isHttpUrl(url)) throw invalidParams('callback_url must be http(s)://');
  return url;
}

type Mode = 'text' | 'frames' | 'references';

const mediaMax = 12;
const countsMax: Readonly<Record<MediaRole, number>> = {
  first_frame: 1,
  last_frame: 1,
  reference_image: 9,
  reference_video: 3,
  reference_audio: 3,
  base_video: 1,
};

/** The vendor's mode to which the media belong. Media that fit no mode are refused. */
function findMode(media: readonly MediaItem[]): Mode {
  const inputs = media.filter((item) => item.role !== 'base_video');
  checkCounts(media);
  if (inputs.length === 0) return 'text';
  const frames = inputs.filter((item) => item.role === 'first_frame' || item.role === 'last_frame');
  if (frames.length === inputs.length) return 'frames';
  if (frames.length > 0) throw invalidParams('first_frame and last_frame cannot be combined with references');
  if (inputs.every((item) => item.form === 'audio'))
    throw invalidParams('reference_audio needs a reference_image or reference_video in addition');
  return 'references';
}

function checkCounts(media: readonly MediaItem[]): void {
  for (const [role, max] of Object.entries(countsMax)) {
    if (media.filter((item) => item.role === role).length > max)
      throw invalidParams(`content must have at most ${max} of role ${role}`);
  }
  if (media.length > mediaMax) throw invalidParams(`content must have at most ${mediaMax} media items`);
}

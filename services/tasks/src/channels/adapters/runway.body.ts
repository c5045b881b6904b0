import type { Attempt, AttemptMedia, UpstreamRequest } from '@reelgate/adapter-kit';
import { findUnfit, listMedia, toFields, toPrompt } from '@reelgate/adapter-kit/kit';
import { choosePixels } from './runway.models.ts';
import type { RunwayModel } from './runway.models.ts';

const POSITIONS: Readonly<Record<string, 'first' | 'last'>> = { first_frame: 'first', last_frame: 'last' };

/** Frames go to image_to_video, text and references to text_to_video. Nothing of an order is left out silently. */
export function buildRunwaySubmit(
  models: Readonly<Record<string, RunwayModel>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model: id, content } = attempt;
  const model = findRunwayModel(models, id);
  if (model === undefined) return { unfit: `the model ${id} is unknown to this adapter` };
  const unfit = findUnfit(model, attempt);
  if (unfit !== undefined) return { unfit: `the model ${id} ${unfit}` };
  const media = listMedia(content);
  const frames = media.filter(({ role }) => POSITIONS[role ?? ''] !== undefined);
  const route = frames.length > 0 ? 'image' : 'text';
  const frame = toFrameFields(model, route, attempt);
  if (frame === undefined)
    return {
      unfit:
        `the model ${id} makes no ${route}_to_video ` +
        `of ${attempt.resolution ?? 'that resolution'} at ${attempt.ratio ?? 'that ratio'}`,
    };
  const json = {
    model: id,
    promptText: toPrompt(content),
    duration: attempt.duration,
    ...frame,
    ...toExtraFields(attempt),
    ...(media.length > 0 && toMediaFields(media, frames)),
  };
  return { method: 'POST', path: `/v1/${route}_to_video`, json };
}

export function findRunwayModel(models: Readonly<Record<string, RunwayModel>>, id: string): RunwayModel | undefined {
  return Object.hasOwn(models, id) ? models[id] : undefined;
}

function toExtraFields({ extra = {} }: Attempt): object {
  const { seed, generate_audio: audio, negative_prompt: negativePrompt, public_figure_threshold: level } = extra;
  return toFields({
    seed,
    audio,
    negativePrompt,
    contentModeration: level === undefined ? undefined : { publicFigureThreshold: level },
  });
}

function toFrameFields(
  model: RunwayModel,
  route: 'text' | 'image',
  { ratio, resolution }: Attempt,
): object | undefined {
  const pairs = model[route];
  if (pairs === undefined) return undefined;
  if (model.frame === 'pixels') {
    const pixels = choosePixels(pairs, ratio, resolution);
    return pixels === undefined ? undefined : { ratio: pixels };
  }
  const asked = resolution === undefined ? {} : { resolution: resolution.toLowerCase() };
  return model.frame === 'resolution' || ratio === undefined ? asked : { ratio, ...asked };
}

function toMediaFields(media: readonly AttemptMedia[], frames: readonly AttemptMedia[]): object {
  if (frames.length > 0)
    return { promptImage: frames.map(({ url, role }) => ({ uri: url, position: POSITIONS[role ?? ''] })) };
  const selectMedia = (kind: AttemptMedia['media']): readonly AttemptMedia[] =>
    media.filter((item) => item.media === kind);
  return {
    ...toListField(
      'references',
      selectMedia('image').map(({ url }) => ({ uri: url })),
    ),
    ...toListField(
      'referenceVideos',
      selectMedia('video').map(({ url }) => ({ type: 'video', uri: url })),
    ),
    ...toListField(
      'referenceAudio',
      selectMedia('audio').map(({ url }) => ({ type: 'audio', uri: url })),
    ),
  };
}

function toListField(name: string, items: readonly object[]): object {
  return items.length === 0 ? {} : { [name]: items };
}

import type { Attempt, AttemptMedia, UpstreamRequest } from '@reelgate/adapter-kit';
import { listMedia, toPrompt } from '@reelgate/adapter-kit/kit';
import { choosePixels, RUNWAY_MODELS } from './runway.models.ts';
import type { RunwayModel } from './runway.models.ts';

const POSITIONS: Readonly<Record<string, 'first' | 'last'>> = { first_frame: 'first', last_frame: 'last' };

/** Frames go to image_to_video, text and references to text_to_video. Nothing of an order is left out silently. */
export function buildRunwaySubmit(attempt: Attempt): UpstreamRequest | { readonly unfit: string } {
  const { model: id, content } = attempt;
  const model = Object.hasOwn(RUNWAY_MODELS, id) ? RUNWAY_MODELS[id] : undefined;
  if (model === undefined) return { unfit: `the model ${id} is unknown to this adapter` };
  const media = listMedia(content);
  const frames = media.filter(({ role }) => POSITIONS[role ?? ''] !== undefined);
  const unfit = describeUnfitMedia(model, media, frames);
  if (unfit !== undefined) return { unfit: `the model ${id} ${unfit}` };
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
    ...(media.length > 0 && toMediaFields(media, frames)),
  };
  return { method: 'POST', path: `/v1/${route}_to_video`, json };
}

function describeUnfitMedia(
  { lastFrame, references }: RunwayModel,
  media: readonly AttemptMedia[],
  frames: readonly AttemptMedia[],
): string | undefined {
  if (frames.length > 0 && frames.length < media.length) return 'takes frames or references, not both';
  if (!lastFrame && frames.some(({ role }) => role === 'last_frame')) return 'takes no last frame';
  if (!references && frames.length < media.length) return 'takes no references';
  return undefined;
}

function toFrameFields(
  model: RunwayModel,
  route: 'text' | 'image',
  { ratio, resolution }: Attempt,
): object | undefined {
  if (model.frame === 'pixels') {
    const pixels = choosePixels(model[route] ?? [], ratio, resolution);
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

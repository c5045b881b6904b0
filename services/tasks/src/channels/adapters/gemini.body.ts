import type { Attempt, AttemptMedia, Json, UpstreamRequest } from '@reelgate/adapter-kit';
import { joinTexts, listMedia, parseDataUrl, sortMedia, toFields, toPrompt } from '@reelgate/adapter-kit/kit';
import { describeUnfit } from './gemini.models.ts';
import type { GeminiModel } from './gemini.models.ts';

export const INTERACTIONS = '/v1beta/interactions';

/** Builds the request for an order, in the form of its model. */
export function buildSubmit(
  models: Readonly<Record<string, GeminiModel>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model: id } = attempt;
  const model = Object.hasOwn(models, id) ? models[id] : undefined;
  if (model === undefined) return { unfit: `the model ${id} is unknown to this channel` };
  const unfit = describeUnfit(model, attempt);
  if (unfit !== undefined) return { unfit: `the model ${id} ${unfit}` };
  return model.form === 'operation'
    ? { method: 'POST', path: `/v1beta/models/${encodeURIComponent(id)}:predictLongRunning`, json: toInstance(attempt) }
    : { method: 'POST', path: INTERACTIONS, json: toInteraction(attempt) };
}

/** An interaction in the background, because without it the answer comes with the video. */
function toInteraction({ model, content, ...order }: Attempt): object {
  const media = listMedia(content);
  const text = joinTexts(content);
  return {
    model,
    background: true,
    input: [...media.map(toContentItem), ...(text === '' ? [] : [{ type: 'text', text }])],
    response_format: {
      type: 'video',
      delivery: 'uri',
      ...toFrame(order),
      duration: order.duration === undefined ? undefined : `${order.duration}s`,
    },
    // Without the task the model guesses the purpose of an image.
    generation_config: { video_config: { task: chooseTask(media) } },
  };
}

function chooseTask(media: readonly AttemptMedia[]): string {
  if (media.length === 0) return 'text_to_video';
  return media.some(({ role }) => role === 'first_frame') ? 'image_to_video' : 'reference_to_video';
}

function toContentItem({ media, url }: AttemptMedia): object {
  const file = parseDataUrl(url);
  return file === undefined ? { type: media, uri: url } : { type: media, data: file.base64, mime_type: file.type };
}

function toFrame({ ratio, resolution }: Pick<Attempt, 'ratio' | 'resolution'>): Json {
  return { aspect_ratio: ratio === 'adaptive' ? undefined : ratio, resolution: resolution?.toLowerCase() };
}

function toInstance({ content, duration, extra, ...order }: Attempt): object {
  const { first, last, images } = sortMedia(content);
  const { aspect_ratio: aspectRatio, resolution } = toFrame(order);
  return {
    instances: [
      toFields({
        prompt: toPrompt(content),
        image: toImage(first),
        lastFrame: toImage(last),
        referenceImages:
          images.length === 0 ? undefined : images.map((url) => ({ image: toImage(url), referenceType: 'asset' })),
      }),
    ],
    parameters: toFields({
      sampleCount: 1,
      aspectRatio,
      resolution,
      durationSeconds: duration,
      negativePrompt: extra?.['negative_prompt'],
      seed: extra?.['seed'],
    }),
  };
}

function toImage(url: string | undefined): object | undefined {
  const file = parseDataUrl(url ?? '');
  return file === undefined ? undefined : { bytesBase64Encoded: file.base64, mimeType: file.type };
}

import type { Attempt, Json, UpstreamRequest } from '@reelgate/adapter-kit';
import { findUnfit, joinTexts, sortMedia, toFields } from '@reelgate/adapter-kit/kit';
import type { OrderMedia } from '@reelgate/adapter-kit/kit';
import { toSeed } from './fal.find.ts';
import { readApp } from './fal.models.ts';
import type { FalEndpoint, FalModel, FalPart } from './fal.models.ts';

/** Without it the queue runs failed work again, up to ten times. */
const ONCE = { 'x-fal-no-retry': '1' };

/** An order is the input of one endpoint, without an envelope. Our URL for callbacks is in the query. */
export function buildFalSubmit(
  models: Readonly<Record<string, FalModel>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model, content, callbackUrl } = attempt;
  const known = Object.hasOwn(models, model) ? models[model] : undefined;
  if (known === undefined || readApp(model) === undefined)
    return { unfit: `the model ${model} is unknown to this adapter` };
  const media = sortMedia(content);
  const endpoint = chooseEndpoint(known, media);
  if (endpoint === undefined) return { unfit: `the model ${model} has no endpoint for such media` };
  const parts = toParts(endpoint, attempt, media);
  const unfit = findUnfit(endpoint, attempt) ?? findNameless(endpoint, parts);
  if (unfit !== undefined) return { unfit: `the model ${model} ${unfit}` };
  const query = callbackUrl === undefined ? '' : `?fal_webhook=${encodeURIComponent(callbackUrl)}`;
  return {
    method: 'POST',
    path: `/${model.split('/').map(encodeURIComponent).join('/')}${endpoint.path}${query}`,
    headers: ONCE,
    json: toInput(endpoint, attempt, parts),
  };
}

function toInput(endpoint: FalEndpoint, attempt: Attempt, parts: Json): Json {
  const input: Record<string, unknown> = {
    ...endpoint.fixed,
    ...toExtra(endpoint, attempt),
    prompt: joinTexts(attempt.content),
  };
  for (const [part, value] of Object.entries(parts)) input[endpoint.fields[part as FalPart] ?? part] = value;
  return input;
}

function chooseEndpoint({ text, frame, bothFrames, references }: FalModel, media: OrderMedia): FalEndpoint | undefined {
  if (media.images.length + media.videos.length + media.audios.length > 0) return references;
  if (media.last !== undefined) return bothFrames ?? frame;
  return media.first === undefined ? text : frame;
}

/** The parts of an order that the endpoint has a field for, and all media. */
function toParts(endpoint: FalEndpoint, { duration, resolution, ratio }: Attempt, media: OrderMedia): Json {
  const { fields, durationAs = 'text', resolutions, adaptive } = endpoint;
  return toFields({
    duration:
      fields.duration === undefined || duration === undefined ? undefined : DURATION_TEXTS[durationAs](duration),
    // The upstream takes its own spelling alone.
    resolution:
      fields.resolution === undefined
        ? undefined
        : (resolutions?.find((one) => one.toLowerCase() === resolution?.toLowerCase()) ?? resolution),
    ratio: fields.ratio === undefined ? undefined : ratio === 'adaptive' ? adaptive : ratio,
    first: media.first,
    last: media.last,
    images: toList(media.images),
    videos: toList(media.videos),
    audios: toList(media.audios),
  });
}

const DURATION_TEXTS: Readonly<Record<NonNullable<FalEndpoint['durationAs']>, (seconds: number) => number | string>> = {
  number: (seconds) => seconds,
  text: String,
  'text with s': (seconds) => `${seconds}s`,
};

function toList(urls: readonly string[]): readonly string[] | undefined {
  return urls.length === 0 ? undefined : urls;
}

/** A row of an operator can allow media and name no field for them. */
function findNameless({ fields }: FalEndpoint, parts: Json): string | undefined {
  const nameless = Object.keys(parts).find((part) => fields[part as FalPart] === undefined);
  return nameless === undefined ? undefined : `has no input for ${nameless}`;
}

/** An endpoint that takes a seed always gets one: that of the client, or one by which the work can be found. */
function toExtra({ extra: taken = [] }: FalEndpoint, { key, extra = {} }: Attempt): Json {
  const sent = Object.fromEntries(Object.entries(extra).filter(([name]) => taken.includes(name)));
  return taken.includes('seed') ? { seed: toSeed(key), ...sent } : sent;
}

import type { Attempt, ExtraQuestion, Json, UpstreamRequest } from '@reelgate/adapter-kit';
import { findUnfit, hashKey, joinTexts, sortMedia, toFilledList } from '@reelgate/adapter-kit/kit';
import type { OrderMedia } from '@reelgate/adapter-kit/kit';
import { PARTS, readApp } from './fal.models.ts';
import type { FalEndpoint, FalModel, FalPart } from './fal.models.ts';

const SOUND = 'generate_audio';

type Parts = Readonly<Record<FalPart, unknown>>;

/** Without it the queue runs failed work again, up to ten times. */
const ONCE = { 'x-fal-no-retry': '1' };

/** A model with the path of its endpoints. */
export interface FalTarget {
  readonly model: FalModel;
  readonly path: string;
}

/** The targets of the models with an owner and an app in their id, and of their endpoints, by that id. */
export function listTargets(models: Readonly<Record<string, FalModel>>): ReadonlyMap<string, FalTarget> {
  const targets = new Map<string, FalTarget>();
  for (const [id, model] of Object.entries(models)) {
    const base = model.base ?? id;
    if (readApp(id) === undefined || readApp(base) !== readApp(id)) continue;
    targets.set(id, { model, path: `/${base.split('/').map(encodeURIComponent).join('/')}` });
  }
  return targets;
}

/** An order is the input of one endpoint, without an envelope. Our URL for callbacks is in the query. */
export function buildFalSubmit(
  targets: ReadonlyMap<string, FalTarget>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model, content, callbackUrl } = attempt;
  const target = targets.get(model);
  if (target === undefined) return { unfit: `the model ${model} is unknown to this adapter` };
  const media = sortMedia(content);
  const endpoint = chooseEndpoint(target.model, media);
  if (endpoint === undefined) return { unfit: `the model ${model} has no endpoint for such media` };
  const parts = toParts(endpoint, attempt, media);
  const unfit = findUnfit(endpoint, attempt) ?? findNameless(endpoint, parts);
  if (unfit !== undefined) return { unfit: `the model ${model} ${unfit}` };
  const query = callbackUrl === undefined ? '' : `?fal_webhook=${encodeURIComponent(callbackUrl)}`;
  return {
    method: 'POST',
    path: `${target.path}${endpoint.path}${query}`,
    headers: ONCE,
    json: toInput(endpoint, attempt, parts),
  };
}

function toInput(endpoint: FalEndpoint, attempt: Attempt, parts: Parts): Json {
  const { fixed, fields, extra = [], soundField = SOUND } = endpoint;
  const input: Record<string, unknown> = { ...fixed, prompt: joinTexts(attempt.content) };
  const set = (name: string | undefined, value: unknown): void => {
    if (name !== undefined && value !== undefined) input[name] = value;
  };
  // No seed at all is a random one at the upstream, so any seed does: this one finds the work.
  for (const name of extra) {
    const value = attempt.extra?.[name] ?? (name === 'seed' ? hashKey(attempt.key) : undefined);
    set(name === SOUND ? soundField : name, value);
  }
  for (const part of PARTS) set(fields[part], parts[part]);
  return input;
}

/** The endpoint for an order, undefined if the model is unknown or has no endpoint for such media. */
export function findFalEndpoint(
  targets: ReadonlyMap<string, FalTarget>,
  { model, content }: ExtraQuestion,
): FalEndpoint | undefined {
  const target = targets.get(model);
  return target && chooseEndpoint(target.model, sortMedia(content));
}

function chooseEndpoint({ text, frame, bothFrames, references }: FalModel, media: OrderMedia): FalEndpoint | undefined {
  if (media.images.length + media.videos.length + media.audios.length > 0) return references;
  if (media.last !== undefined) return bothFrames ?? frame;
  return media.first === undefined ? text : frame;
}

/** The parts of an order that the endpoint has a field for, and all media. */
function toParts(endpoint: FalEndpoint, { duration, resolution, ratio }: Attempt, media: OrderMedia): Parts {
  const { fields, durationAs = 'text', resolutions, adaptive } = endpoint;
  return {
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
    images: toFilledList(media.images),
    videos: toFilledList(media.videos),
    audios: toFilledList(media.audios),
  };
}

const DURATION_TEXTS: Readonly<Record<NonNullable<FalEndpoint['durationAs']>, (seconds: number) => number | string>> = {
  number: (seconds) => seconds,
  text: String,
  'text with s': (seconds) => `${seconds}s`,
};

/** A row of an operator can allow media and name no field for them. */
function findNameless({ fields }: FalEndpoint, parts: Parts): string | undefined {
  const nameless = PARTS.find((part) => parts[part] !== undefined && fields[part] === undefined);
  return nameless === undefined ? undefined : `has no input for ${nameless}`;
}

import type { Attempt, Json, UpstreamRequest } from '@reelgate/adapter-kit';
import { findUnfit, joinTexts, listMedia, sortMedia, toFields } from '@reelgate/adapter-kit/kit';
import { MODEL_ID } from './replicate.models.ts';
import type { InputNames, ReplicateModel } from './replicate.models.ts';

/** The API takes files inside a request up to this size. The data URL is measured, which is longer than its file. */
const DATA_URL_MAX = 256 * 1024;

/** An order by the parts that a model may have an input for. */
type Parts = Readonly<Record<keyof InputNames, unknown>>;

export function buildReplicateSubmit(
  models: Readonly<Record<string, ReplicateModel>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model, callbackUrl } = attempt;
  const row = Object.hasOwn(models, model) ? models[model] : undefined;
  const [, owner, name, version] = MODEL_ID.exec(model) ?? [];
  if (row === undefined || owner === undefined || name === undefined)
    return { unfit: `the model ${model} is unknown to this adapter` };
  const parts = readParts(row, attempt);
  const unfit = findUnfit(selectLengths(row, attempt), attempt) ?? describeUnwritable(row, parts, attempt);
  if (unfit !== undefined) return { unfit: `the model ${model} ${unfit}` };
  return {
    method: 'POST',
    path:
      version === undefined
        ? `/v1/models/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/predictions`
        : '/v1/predictions',
    json: toFields({
      version,
      input: toInput(row, attempt, parts),
      webhook: callbackUrl,
      webhook_events_filter: callbackUrl === undefined ? undefined : ['completed'],
    }),
  };
}

function selectLengths(row: ReplicateModel, { resolution = '' }: Attempt): ReplicateModel {
  const { secondsAt = {} } = row;
  const at = Object.keys(secondsAt).find((one) => one.toLowerCase() === resolution.toLowerCase());
  return at === undefined ? row : { ...row, seconds: secondsAt[at] };
}

function readParts(row: ReplicateModel, { content, duration, resolution, ratio }: Attempt): Parts {
  const { first, last, images, videos, audios } = sortMedia(content);
  const isRatioChosen = ratio !== 'adaptive' && !(row.ratioFollowsFrame === true && first !== undefined);
  return {
    prompt: joinTexts(content),
    duration,
    // Models compare the spelling.
    resolution: row.resolutions?.find((one) => one.toLowerCase() === resolution?.toLowerCase()) ?? resolution,
    ratio: isRatioChosen ? ratio : undefined,
    firstFrame: first,
    lastFrame: last,
    images: toListValue(images),
    videos: toListValue(videos),
    audios: toListValue(audios),
  };
}

function toListValue(urls: readonly string[]): readonly string[] | undefined {
  return urls.length === 0 ? undefined : urls;
}

/** Returns the reason why a part of the order cannot be written into the request; undefined if each can. */
function describeUnwritable(row: ReplicateModel, parts: Parts, { content }: Attempt): string | undefined {
  const { inputs, resolutions, ratios } = row;
  // A model makes these without being told, if it makes them at all.
  const made: Partial<Parts> = { resolution: resolutions, ratio: ratios, prompt: inputs };
  const unnamed = (Object.keys(parts) as (keyof InputNames)[]).find(
    (part) => parts[part] !== undefined && inputs[part] === undefined && made[part] === undefined,
  );
  if (unnamed !== undefined) return `has no input for the part ${unnamed}`;
  return listMedia(content).some(({ url }) => url.startsWith('data:') && url.length > DATA_URL_MAX)
    ? 'takes files inside the request up to 256 KB'
    : undefined;
}

function toInput({ inputs, always, extra = [] }: ReplicateModel, attempt: Attempt, parts: Parts): Json {
  const names: InputNames = { prompt: 'prompt', ...inputs };
  const input: Record<string, unknown> = { ...always };
  for (const [name, value] of Object.entries(attempt.extra ?? {})) if (extra.includes(name)) input[name] = value;
  for (const part of Object.keys(names) as (keyof InputNames)[]) {
    const name = names[part];
    if (name !== undefined) input[name] = parts[part];
  }
  return toFields(input);
}

import type { Attempt, Json, UpstreamRequest } from '@reelgate/adapter-kit';
import { findUnfit, joinTexts, listMedia, sortMedia, toFilledList } from '@reelgate/adapter-kit/kit';
import { INPUT_PARTS, MODEL_ID } from './replicate.models.ts';
import type { InputNames, ReplicateModel } from './replicate.models.ts';

/** The API takes files inside a request up to this size. The data URL is measured, which is longer than its file. */
const DATA_URL_MAX = 256 * 1024;

/** The names of the parts that a model need not name. */
const DEFAULT_NAMES: InputNames = { prompt: 'prompt' };

/** An order by the parts that a model may have an input for. */
type Parts = Readonly<Record<keyof InputNames, unknown>>;

/** A model with where its orders go. */
export interface ReplicateTarget {
  readonly row: ReplicateModel;
  readonly path: string;
  readonly version: string | undefined;
}

/** The targets of the models with an owner and a name in their id, by that id. */
export function listTargets(models: Readonly<Record<string, ReplicateModel>>): ReadonlyMap<string, ReplicateTarget> {
  return new Map(
    Object.entries(models).flatMap(([id, row]) => {
      const [, owner, name, version] = MODEL_ID.exec(id) ?? [];
      if (owner === undefined || name === undefined) return [];
      const path =
        version === undefined
          ? `/v1/models/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/predictions`
          : '/v1/predictions';
      return [[id, { row, path, version }]];
    }),
  );
}

export function buildReplicateSubmit(
  targets: ReadonlyMap<string, ReplicateTarget>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model, callbackUrl } = attempt;
  const target = targets.get(model);
  if (target === undefined) return { unfit: `the model ${model} is unknown to this adapter` };
  const { row, path, version } = target;
  const parts = readParts(row, attempt);
  const unfit = findUnfit(selectLengths(row, attempt), attempt) ?? describeUnwritable(row, parts, attempt);
  if (unfit !== undefined) return { unfit: `the model ${model} ${unfit}` };
  return {
    method: 'POST',
    path,
    json: {
      version,
      input: toInput(row, attempt, parts),
      webhook: callbackUrl,
      webhook_events_filter: callbackUrl === undefined ? undefined : ['completed'],
    },
  };
}

function selectLengths(row: ReplicateModel, { resolution = '' }: Attempt): ReplicateModel {
  const { secondsAt } = row;
  if (secondsAt === undefined) return row;
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
    images: toFilledList(images),
    videos: toFilledList(videos),
    audios: toFilledList(audios),
  };
}

/** Returns the reason why a part of the order cannot be written into the request; undefined if each can. */
function describeUnwritable(row: ReplicateModel, parts: Parts, { content }: Attempt): string | undefined {
  const { inputs, resolutions, ratios } = row;
  // A model adds these by itself, if it can add them at all.
  const made: Partial<Parts> = { resolution: resolutions, ratio: ratios, prompt: inputs };
  const unnamed = INPUT_PARTS.find(
    (part) => parts[part] !== undefined && inputs[part] === undefined && made[part] === undefined,
  );
  if (unnamed !== undefined) return `has no input for the part ${unnamed}`;
  return listMedia(content).some(({ url }) => url.startsWith('data:') && url.length > DATA_URL_MAX)
    ? 'takes files inside the request up to 256 KB'
    : undefined;
}

function toInput({ inputs, always, extra = [] }: ReplicateModel, attempt: Attempt, parts: Parts): Json {
  const input: Record<string, unknown> = { ...always };
  const set = (name: string | undefined, value: unknown): void => {
    if (name !== undefined && value !== undefined) input[name] = value;
  };
  for (const name of extra) set(name, attempt.extra?.[name]);
  for (const part of INPUT_PARTS) set(inputs[part] ?? DEFAULT_NAMES[part], parts[part]);
  return input;
}

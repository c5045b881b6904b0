import type { ExtraFields, Json } from '@reelgate/adapter-kit';
import { buildModelOptions, extendRowSchema } from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';

/** A part of an order that a model takes in a field of its own name. */
export const PARTS = ['duration', 'resolution', 'ratio', 'first', 'last', 'images', 'videos', 'audios'] as const;
export type FalPart = (typeof PARTS)[number];

/** One endpoint of a model, and the names of its input fields. */
export interface FalEndpoint extends ModelRow {
  /** The path after the id of the model; empty, or it begins with `/`. */
  readonly path: string;
  /** The names of the fields. A part without one is never sent. */
  readonly fields: Partial<Readonly<Record<FalPart, string>>>;
  /** The form of a duration: `8`, `"8"` or `"8s"`. Default: `text`. */
  readonly durationAs?: 'number' | 'text' | 'text with s' | undefined;
  /** The word for an adaptive ratio. Without it, the ratio is left out. */
  readonly adaptive?: string | undefined;
  /** The extra fields that the endpoint takes. */
  readonly extra?: readonly string[] | undefined;
  /** The field of the endpoint for `generate_audio`, if it has another name there. */
  readonly soundField?: string | undefined;
  /** Fields with one value, unless the client chooses another one: sound, which changes the price. */
  readonly fixed?: Readonly<Record<string, string | number | boolean>> | undefined;
}

const USES = ['text', 'frame', 'bothFrames', 'references'] as const;

/** The endpoints of a model by the media of an order. Without `bothFrames`, `frame` serves both. */
export type FalModel = Partial<Readonly<Record<(typeof USES)[number], FalEndpoint>>> & {
  /** The address before the paths of the endpoints. Default: the id of the model. */
  readonly base?: string | undefined;
};

/** The endpoints of a model. */
export function listEndpoints(model: FalModel): readonly FalEndpoint[] {
  return USES.flatMap((use) => model[use] ?? []);
}

/** The owner and the app, under which the work of all endpoints of an app is read. */
export function readApp(model: string): string | undefined {
  return /^[\w-][\w.-]*\/[\w-][\w.-]*(?=\/|$)/.exec(model)?.[0];
}

const SEED_MAX = 2 ** 31 - 1;
const NEGATIVE_PROMPT_MAX = 500;

export const FAL_EXTRA: ExtraFields = {
  seed: { type: 'whole', least: 0, most: SEED_MAX },
  negative_prompt: { type: 'text', charactersMax: NEGATIVE_PROMPT_MAX },
  cfg_scale: { type: 'number', least: 0, most: 1 },
  prompt_optimizer: { type: 'flag' },
  camera_fixed: { type: 'flag' },
  generate_audio: { type: 'flag', isPriced: true },
  // The checks of the upstream. The account of the operator answers for their results.
  enable_safety_checker: { type: 'flag', isForOperators: true },
  safety_tolerance: { type: 'word', words: ['1', '2', '3', '4', '5', '6'], isForOperators: true },
  detect_and_block_ip: { type: 'flag', isForOperators: true },
};

const TEXT: Json = { type: 'string', minLength: 1 };
const toObjectSchema = (names: readonly string[], schema: Json): Json => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(names.map((name) => [name, schema])),
});

const ENDPOINT_SCHEMA = extendRowSchema(
  {
    path: { type: 'string', pattern: String.raw`^(/[\w.-]+)*$` },
    fields: toObjectSchema(PARTS, TEXT),
    durationAs: { enum: ['number', 'text', 'text with s'] },
    adaptive: TEXT,
    soundField: TEXT,
    extra: { type: 'array', items: { enum: Object.keys(FAL_EXTRA) } },
    fixed: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
  },
  ['path', 'fields'],
);

export const FAL_OPTIONS = buildModelOptions({
  type: 'object',
  additionalProperties: false,
  properties: { base: TEXT, ...Object.fromEntries(USES.map((use) => [use, ENDPOINT_SCHEMA])) },
});

import type { Order } from '@reelgate/proto/tasks/v1/order';
import type { Problem } from '@reelgate/platform/problem';
import { invalid } from './body-validator.ts';

/** A longer text is no value of a field that only a generator knows. */
const EXTRA_CHARACTERS_MAX = 4096;
/** More than any generator takes. */
const EXTRA_FIELDS_MAX = 32;
const SHOWN_CHARACTERS_MAX = 64;
const LIKE_A_URL = /:\/\/|^\s*[/\\]{2}|^\s*data:|;base64,|\/ximg\//i;
/** A name is taken for a misspelling of a known one up to this many letters away: one, and two from this length on. */
const TWO_LETTERS_FROM = 8;
const ONE_LETTER_FROM = 4;

const ONE_VIDEO = 'a create makes one video; send it again for another one';

/** The advice of a dialect for a field that it calls otherwise. */
export interface RightFields {
  readonly length: string;
  readonly ratio: string;
  readonly lastFrame: string;
  readonly references: string;
  readonly pictures: string;
  readonly video: string;
  /** Sound that the client has. */
  readonly sound: string;
  /** The sound that a generator makes. */
  readonly soundMade: string;
  readonly source: string;
}

/** The fields of the dialects with a content. */
const RIGHT_FIELDS: RightFields = {
  length: 'send seconds',
  ratio: 'send ratio',
  lastFrame: 'send last_frame',
  references: 'send reference_images',
  pictures: 'send input_reference for the first frame, last_frame for the last one, reference_images for others',
  video: 'send a video as a video_url item of content',
  sound: 'send sound as an audio_url item of content',
  soundMade: 'the generators of this model choose the sound by themselves; describe it in prompt',
  source: 'send source_task_id',
};

/**
 * The meanings of names of other APIs, the first match first. They are compared without case and signs, so `imageUrl`
 * and `IMAGE-URL` are one name.
 */
const MEANINGS: readonly (readonly [RegExp, (right: RightFields) => string])[] = [
  [/fps|framerate|framespersecond/, () => 'a generator chooses the frame rate'],
  [/negative/, () => 'write into prompt what the video must not show'],
  [/steps?$|iteration|inference|guidance|^cfg|sampler|scheduler/, () => 'a generator chooses how it computes'],
  [/camera|(?<!pro)motion|movement/, () => 'describe it in prompt'],
  [/numframes|framecount|nframes/, ({ length }) => length],
  [/callback|webhook|notif|hook/, () => 'send webhook_url'],
  [/(last|end|tail|final).*(frame|ima?ge?|pic|photo)|(frame|ima?ge?).*(tail|end|last)/, ({ lastFrame }) => lastFrame],
  [
    /(ref|style|subject|character|element).*(ima?ge?|pic|photo|frame)|reference|subject/,
    ({ references }) => references,
  ],
  [
    /^(n|no|num|number)(of)?(video|clip|image|output|sample|result|generation|variation)s?$|^num(ber)?$/,
    () => ONE_VIDEO,
  ],
  [/(?<!ac|dis)counts?$|samples?$|variation|outputs$|quantity|batch/, () => ONE_VIDEO],
  [/ima?ge|img|picture|^pic|(input|first|start|init)pic|photo|frame(?!work)/, ({ pictures }) => pictures],
  [/duration|second(?!ary)|secs|length|runtime/, ({ length }) => length],
  [
    /(sound|audio|music|speech|(?<!in)voice)(ur[il]|file|link)|^(input)?(sound|audio|music|speech)s?$/,
    ({ sound }) => sound,
  ],
  [/audio|sound|(?<!in)voice|music|speech|lipsync|narrat/, ({ soundMade }) => soundMade],
  [/aspect|ratio(?!n)|orientation|shape/, ({ ratio }) => ratio],
  [/resolution|quality|definition|upscale/, () => 'send resolution'],
  [/(?<!band)width|height|dimension|(?<!re)size|pixel/, () => 'send size'],
  [/video|(?<!e)clip|footage/, ({ video }) => video],
  [/amount|price|cost(?!ume)|budget|spend|charge|money|maxpay/, () => 'send max_amount'],
  [/prompt|(?<!con)text(?!ure)|description|caption|instruction/, () => 'send prompt'],
  [/model|engine|checkpoint/, () => 'send model'],
  [/(?<!re)source|(?<!trans)parent|remix|original/, ({ source }) => source],
];

/**
 * The members of `metadata` belong to the client. These names are refused there: they are fields of a dialect, or
 * change the video in other APIs. They are compared without case and signs.
 */
const NO_METADATA: ReadonlySet<string> = new Set(
  [
    ...['model', 'prompt', 'content', 'seed', 'n', 'action', 'source_task_id', 'response_format', 'aigc_watermark'],
    ...['negative_prompt', 'prompt_optimizer', 'prompt_extend', 'enhance_prompt', 'watermark', 'person_generation'],
    ...['seconds', 'duration', 'duration_seconds', 'duration_ms', 'video_length', 'video_duration', 'num_frames'],
    ...['frame_count', 'fps', 'frame_rate', 'frames_per_second', 'webhook_url', 'webhook', 'callback_url', 'callback'],
    ...['size', 'width', 'height', 'ratio', 'aspect', 'aspect_ratio', 'orientation', 'dimensions', 'quality'],
    ...['resolution', 'resolution_name', 'video_size', 'video_quality', 'video_resolution', 'output_resolution'],
    ...['image', 'images', 'image_url', 'image_urls', 'img', 'img_url', 'img_urls', 'image_base64', 'input_image'],
    ...[
      'input_images',
      'input_image_url',
      'input_reference',
      'input_references',
      'init_image',
      'keyframe',
      'keyframes',
    ],
    ...['first_frame', 'first_frame_url', 'first_frame_image', 'start_frame', 'start_frame_url', 'start_image'],
    ...['start_image_url', 'first_image', 'first_image_url', 'frames', 'frame_images', 'last_frame', 'last_frame_url'],
    ...['last_frame_image', 'last_image', 'last_image_url', 'end_frame', 'end_frame_url', 'end_image', 'end_image_url'],
    ...['image_tail', 'tail_image', 'tail_image_url', 'reference_image', 'reference_images', 'reference_image_url'],
    ...['reference_image_urls', 'reference_url', 'reference_urls', 'ref_image', 'ref_images', 'style_image'],
    ...['style_reference', 'subject_reference', 'subject_references', 'reference_video', 'reference_videos'],
    ...['reference_audio', 'base_video', 'input_video', 'video_url', 'video_urls', 'audio', 'audio_url', 'audio_urls'],
    ...['input_audio', 'generate_audio', 'enable_audio', 'with_audio', 'sound', 'voice_id', 'lip_sync', 'lipsync'],
    ...['sample_count', 'num_samples', 'num_videos', 'number_of_videos', 'video_count', 'num_outputs', 'batch_size'],
    ...['num_generations', 'cfg', 'cfg_scale', 'guidance', 'guidance_scale', 'inference_steps', 'num_inference_steps'],
    ...['sampler', 'scheduler', 'motion_strength', 'motion_bucket_id', 'camera_motion', 'camera_control'],
    ...['camera_fixed', 'remix_video_id', 'upscale'],
  ].map(toPlainName),
);

const MAX_AMOUNT = 'max_amount';
/** Names of other APIs for the bound of a price. A name that is written like `max_amount` is one too. */
const BOUNDS: ReadonlySet<string> = new Set(
  [
    ...['budget', 'max_budget', 'budget_max', 'budget_limit', 'budget_usd', 'max_price', 'price_max', 'price_limit'],
    ...['max_cost', 'cost_max', 'cost_limit', 'max_spend', 'spend_limit', 'spending_limit', 'max_charge', 'max_pay'],
    ...[
      'maximum_amount',
      'maximum_price',
      'maximum_cost',
      'max_amount_usd',
      'amount_max',
      'amount_limit',
      'max_credits',
    ],
  ].map(toPlainName),
);

/** The fields of a dialect, grouped by how they are handled. */
export interface FieldTable {
  /** Every field that the dialect knows. */
  readonly known: readonly string[];
  /** The known fields that only a generator can obey. The create is refused if no generator takes them. */
  readonly passed?: readonly string[];
  /** The known fields that the answer lists as ignored if no generator takes them. */
  readonly optional?: readonly string[];
  readonly right?: RightFields;
}

/**
 * Encodes the fields that only a generator can know. Refuses a field that cannot be one: a name that resembles a known
 * field, a value that is not a text, number or flag, and a value with an address, which would bypass the protected path
 * of media.
 */
export function readExtra(
  body: object,
  { known, passed = [], optional = [], right }: FieldTable,
): Pick<Order, 'extraJson' | 'optionalExtra'> {
  const extra = Object.entries(body).filter(
    ([name]) => !known.includes(name) || passed.includes(name) || optional.includes(name),
  );
  const impossible =
    extra.find(([name, value]) => !known.includes(name) && !canBeExtra(name, value, known)) ?? extra[EXTRA_FIELDS_MAX];
  if (impossible !== undefined) throw refuseUnknown(impossible[0], known, right);
  return {
    extraJson: extra.length === 0 ? '' : JSON.stringify(Object.fromEntries(extra)),
    optionalExtra: optional.filter((name) => Object.hasOwn(body, name)),
  };
}

function canBeExtra(name: string, value: unknown, known: readonly string[]): boolean {
  const plain = toPlainName(name);
  if (known.some((one) => toPlainName(one) === plain)) return false;
  if (typeof value === 'string') return value.length <= EXTRA_CHARACTERS_MAX && !LIKE_A_URL.test(value);
  return typeof value === 'number' || typeof value === 'boolean';
}

/** Returns the refusal of a field that the dialect does not know. */
export function refuseUnknown(field: string, known: readonly string[], right?: RightFields): Problem {
  return invalid(
    field.slice(0, SHOWN_CHARACTERS_MAX),
    `is an unknown field; ${describeRightField(field, known, right)}`,
    'unknown_field',
  );
}

/**
 * Describes the field to send in place of an unknown field: a known field with a similar name, or one with the same
 * meaning.
 */
export function describeRightField(field: string, known: readonly string[], right: RightFields = RIGHT_FIELDS): string {
  const plain = toPlainName(field.replace(/\[.*$/s, '').slice(0, SHOWN_CHARACTERS_MAX));
  if (known.includes(field)) return 'leave it out, or name a model whose generator takes it';
  const near = findNearest(plain, known);
  if (near !== undefined) return `did you mean ${near}`;
  const [, describe] = MEANINGS.find(([pattern]) => pattern.test(plain)) ?? [];
  return describe?.(right) ?? `known fields: ${known.join(', ')}`;
}

function findNearest(plain: string, known: readonly string[]): string | undefined {
  const most = plain.length >= TWO_LETTERS_FROM ? 2 : plain.length >= ONE_LETTER_FROM ? 1 : 0;
  const near = known
    .map((name) => ({ name, letters: countEdits(plain, toPlainName(name)) }))
    .filter(({ letters }) => letters <= most)
    .toSorted((one, other) => one.letters - other.letters);
  return near[0]?.name;
}

/** Returns a name without case and signs. */
export function toPlainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** The letters to add, drop or replace, or pairs to swap, that lead from one name to another. */
function countEdits(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  const read = (i: number, j: number): number => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= from.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= to.length; j += 1) {
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const replaced = read(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swapped = isSwap ? read(i - 2, j - 2) + 1 : Infinity;
      rows[i]?.push(Math.min(read(i - 1, j) + 1, read(i, j - 1) + 1, replaced, swapped));
    }
  }
  return read(from.length, to.length);
}

/** Refuses metadata that changes the video or bounds its price in other APIs, because it has no effect here. */
export function assertMetadata(metadata: object | undefined, field = 'metadata'): void {
  const names = Object.keys(metadata ?? {});
  const bound = names.find(meansBound);
  if (bound !== undefined)
    throw invalid(`${field}.${bound}`, `bounds nothing; send ${MAX_AMOUNT} beside ${field}`, 'unknown_field');
  const wrong = names.find((name) => NO_METADATA.has(toPlainName(name)));
  if (wrong !== undefined)
    throw invalid(`${field}.${wrong}`, `changes nothing here; send it as a field beside ${field}`, 'unknown_field');
}

/** Reports whether a name means the bound of a price, however it is written. */
export function meansBound(name: string): boolean {
  const plain = toPlainName(name.slice(0, SHOWN_CHARACTERS_MAX));
  return BOUNDS.has(plain) || findNearest(plain, [MAX_AMOUNT]) !== undefined;
}

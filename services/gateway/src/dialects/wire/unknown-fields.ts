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
const TWO_LETTERS_FROM = 6;
const ONE_LETTER_FROM = 4;

/**
 * The meanings of names of other APIs, the first match first. They are compared without case and signs, so `imageUrl`
 * and `IMAGE-URL` are one name.
 */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/fps|framerate|framespersecond/, 'a generator chooses the frame rate'],
  [/negative/, 'write into prompt what the video must not show'],
  [/numframes|framecount|nframes/, 'send seconds'],
  [/callback|webhook|notif|hook/, 'send webhook_url'],
  [/(last|end|tail|final).*(frame|ima?ge?|pic|photo)|(frame|ima?ge?).*(tail|end|last)/, 'send last_frame'],
  [/(ref|style|subject|character|element).*(ima?ge?|pic|photo|frame)|reference|subject/, 'send reference_images'],
  [
    /ima?ge?|picture|pic|photo|frame/,
    'send input_reference for the first frame, last_frame for the last one, reference_images for others',
  ],
  [/duration|second|secs|length|runtime/, 'send seconds'],
  [/audio|sound|voice|music|speech|lipsync/, 'send sound as an audio_url item of content'],
  [/video|clip|footage/, 'send a video as a video_url item of content'],
  [/aspect|ratio|orientation|shape/, 'send ratio'],
  [/resolution|quality|definition|upscale/, 'send resolution'],
  [/width|height|dimension|size|pixel/, 'send size'],
  [/amount|price|cost|budget|spend|charge|money|maxpay/, 'send max_amount'],
  [/count|samples|batch|variation|outputs|quantity|^num/, 'a create makes one video; send it again for another one'],
  [/prompt|text|description|caption|instruction/, 'send prompt'],
  [/model|engine|checkpoint/, 'send model'],
  [/source|parent|remix|original/, 'send source_task_id'],
];

/** The members of `metadata` are the client's own. These are none: in other APIs they change the video. */
const NO_METADATA: ReadonlySet<string> = new Set(
  [
    ...['prompt', 'negative_prompt', 'content', 'seconds', 'duration', 'size', 'width', 'height', 'ratio', 'seed'],
    ...['aspect_ratio', 'resolution', 'n', 'fps', 'max_amount', 'quality', 'image_tail', 'audio', 'generate_audio'],
    ...['input_reference', 'image', 'images', 'first_frame', 'first_frame_image', 'last_frame', 'last_frame_image'],
    ...['reference_images', 'image_url', 'image_urls', 'video_url', 'audio_url', 'source_task_id', 'action'],
  ].map(toPlainName),
);

/** The fields of a dialect, by what becomes of them. */
export interface FieldTable {
  /** Every field that the dialect knows. */
  readonly known: readonly string[];
  /** Those of them that only a generator can do. They are refused if none takes them. */
  readonly passed?: readonly string[];
  /** Those of them that are left out, and listed in the answer, if no generator takes them. */
  readonly optional?: readonly string[];
}

/**
 * Encodes the fields that only a generator can know. Refuses a field that can be none of them: one that is written like
 * a known one, one that is no text, number or flag, and one with an address, which would not come through the protected
 * path of media.
 */
export function readExtra(
  body: object,
  { known, passed = [], optional = [] }: FieldTable,
): Pick<Order, 'extraJson' | 'optionalExtra'> {
  const extra = Object.entries(body).filter(
    ([name]) => !known.includes(name) || passed.includes(name) || optional.includes(name),
  );
  const impossible =
    extra.find(([name, value]) => !known.includes(name) && !canBeExtra(name, value, known)) ?? extra[EXTRA_FIELDS_MAX];
  if (impossible !== undefined) throw refuseUnknown(impossible[0], known);
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
export function refuseUnknown(field: string, known: readonly string[]): Problem {
  return invalid(
    field.slice(0, SHOWN_CHARACTERS_MAX),
    `is an unknown field; ${describeRightField(field, known)}`,
    'unknown_field',
  );
}

/** Says what to send in place of an unknown field: a known one with a like name, or one that means the same. */
export function describeRightField(field: string, known: readonly string[]): string {
  const plain = toPlainName(field.replace(/\[.*$/s, '').slice(0, SHOWN_CHARACTERS_MAX));
  if (known.includes(field)) return 'leave it out, or name a model whose generator takes it';
  const near = findNearest(plain, known);
  if (near !== undefined) return `did you mean ${near}`;
  const [, meaning] = MEANINGS.find(([pattern]) => pattern.test(plain)) ?? [];
  return meaning ?? `known fields: ${known.join(', ')}`;
}

function findNearest(plain: string, known: readonly string[]): string | undefined {
  const most = plain.length >= TWO_LETTERS_FROM ? 2 : plain.length >= ONE_LETTER_FROM ? 1 : 0;
  const near = known
    .map((name) => ({ name, letters: countEdits(plain, toPlainName(name)) }))
    .filter(({ letters }) => letters <= most)
    .toSorted((one, other) => one.letters - other.letters);
  return near[0]?.name;
}

function toPlainName(name: string): string {
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

/** Refuses metadata that would change the video elsewhere, because here they change nothing. */
export function assertMetadata(metadata: object | undefined): void {
  const wrong = Object.keys(metadata ?? {}).find((name) => NO_METADATA.has(toPlainName(name)));
  if (wrong !== undefined)
    throw invalid(`metadata.${wrong}`, 'changes nothing here; send it as a field beside metadata', 'unknown_field');
}

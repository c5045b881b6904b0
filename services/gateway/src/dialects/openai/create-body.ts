import type { ClientBody, FormFile, Form } from '../dialect.ts';
import type { Properties, TypeOf } from '../../domain/schema.ts';
import { bodyValidator, invalid } from '../wire/body-validator.ts';
import { contentSchema } from '../wire/content-items.ts';
import { boundSchema, clientSchemas, dropNulls, sizeSchema, webhookUrlSchema } from '../wire/flat-fields.ts';
import { pictureSchemas, FRAME_FILE, LIST_FIELDS, PICTURE_FIELDS } from '../wire/pictures.ts';
import { assertMetadata, refuseUnknown } from '../wire/unknown-fields.ts';
import { SMALL_JSON, parseBoundedText } from '@reelgate/platform/bounded-json';
import { Problem } from '@reelgate/platform/problem';
import { readOwn } from '../../domain/read-own.ts';

const fields = {
  model: { type: 'string', description: 'The id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The text that describes the video.' },
  seconds: { type: ['string', 'integer'], description: 'The length in whole seconds.', examples: ['5'] },
  size: sizeSchema,
  source_task_id: { type: 'string', description: 'The id of a finished 768P task to render again at 2K.' },
  action: { type: 'string', description: 'generation or regeneration. It must match the rest of the body.' },
  content: contentSchema,
  ...pictureSchemas,
  resolution: {
    type: 'string',
    description: 'A regeneration takes only 2K, which is also its default.',
    examples: ['2K'],
  },
  duration: { type: ['string', 'integer'], description: 'An alias of seconds.' },
  ratio: { type: 'string', description: 'Such as 16:9. It overrides size.', examples: ['16:9'] },
  aspect_ratio: { type: 'string', description: 'An alias of ratio.' },
  aigc_watermark: { type: 'boolean', description: 'Only for a regeneration: whether the result has the watermark.' },
  ...clientSchemas,
  webhook_url: webhookUrlSchema,
  ...boundSchema,
} as const satisfies Properties;

/** Only names and types. Unknown fields are judged by `readExtra` and by the channels. */
const createSchema = { type: 'object', required: ['model'], properties: fields } as const;

export type VideoBody = TypeOf<typeof createSchema>;
/** The members that tell a generation from a regeneration. */
export type KindEvidence = Pick<VideoBody, 'source_task_id' | 'action' | 'content'>;

export const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

const shape = bodyValidator(createSchema);

/** The fields of the body, and the first frame if the client sent it as a file. */
export function readBody(body: ClientBody): { readonly fields: VideoBody; readonly firstFrame: FormFile | undefined } {
  const { fields: written, firstFrame } =
    'json' in body ? { fields: dropNulls(body.json), firstFrame: undefined } : readForm(body.form, KNOWN_FIELDS);
  const read = shape(written);
  assertMetadata(read.metadata);
  return { fields: read, firstFrame };
}

/** SDKs flatten an array into form fields such as `content[][type]` or `content[0][video_url][url]`. */
const FLATTENED = /^content\[(\d{0,3})\]\[(\w+)\](?:\[(\w+)\])?$/;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };
/** The name of a part of another field that an SDK has flattened. */
const INNER = /^(\w+)\[([^\]]*)\](?:\[(\w+)\])?$/;
/** The address of a picture within its object, as OpenAI's clients flatten it. */
const ADDRESS_PARTS: ReadonlySet<string> = new Set(['url', 'image_url', 'image_url.url']);
const LIST_INDEX = /^\d{0,3}$/;

/** The place of a form field in the body: a whole field, or a part of one. */
interface Place {
  readonly field: string;
  readonly as: 'whole' | 'address' | 'item' | 'member';
  /** Of a member. */
  readonly name?: string;
}

/** Converts a form into the JSON body that it represents. `known` are the fields that a refusal can lead to. */
export function readForm(
  { fields, files }: Form,
  known: readonly string[],
): { readonly fields: object; readonly firstFrame: FormFile | undefined } {
  const flattened = fields.filter(([name]) => name.startsWith('content['));
  const body = new Map<string, unknown>();
  const places = new Map<string, Place['as']>();
  for (const [name, value] of fields.filter((field) => !flattened.includes(field))) {
    const place = findPlace(name);
    if (place === undefined) throw refuseUnknown(name, known);
    const before = places.get(place.field);
    if (before !== undefined && (before !== place.as || before === 'whole' || before === 'address'))
      throw invalid(place.field, 'must be given only once');
    places.set(place.field, place.as);
    body.set(place.field, fill(place, body.get(place.field), value));
  }
  if (flattened.length > 0 && body.has('content'))
    throw invalid('content', 'must be one JSON array or content[][…] fields, not both');
  if (flattened.length > 0) body.set('content', regroup(flattened));
  const firstFrame = pickFrameFile(files);
  if (firstFrame !== undefined && body.has(FRAME_FILE)) throw invalid(FRAME_FILE, 'must be a file or a URL, not both');
  return { fields: Object.fromEntries(body), firstFrame };
}

/** Returns undefined if no field of a body has such a part. */
function findPlace(name: string): Place | undefined {
  if (!name.includes('[')) return { field: name, as: 'whole' };
  const [, field = '', part = '', deeper = ''] = INNER.exec(name) ?? [];
  const path = deeper === '' ? part : `${part}.${deeper}`;
  if (field === 'metadata') return path === '' || deeper !== '' ? undefined : { field, as: 'member', name: part };
  if (LIST_FIELDS.includes(field)) return LIST_INDEX.test(path) ? { field, as: 'item' } : undefined;
  return PICTURE_FIELDS.includes(field) && ADDRESS_PARTS.has(path) ? { field, as: 'address' } : undefined;
}

/** Returns the value of a field with one more of its parts. */
function fill({ field, as, name = '' }: Place, before: unknown, value: string): unknown {
  if (as === 'whole') return readWhole(field, value);
  if (as === 'address') return { url: value };
  return as === 'item'
    ? [...((before as string[] | undefined) ?? []), value]
    : { ...(before as object), [name]: value };
}

/** A text that is not of the type of its field stays one, and is then refused as such. */
function readWhole(field: string, value: string): unknown {
  if (field === 'content' || field === 'metadata' || LIST_FIELDS.includes(field)) return parseJsonOrText(field, value);
  if (field === 'aigc_watermark') return readOwn(BOOLEANS, value) ?? value;
  return field === 'n' && value === '1' ? 1 : value;
}

function parseJsonOrText(field: string, text: string): unknown {
  try {
    return parseBoundedText(text, SMALL_JSON, field);
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (field === 'content') throw invalid('content', 'must be a JSON array of content items');
    return text;
  }
}

function pickFrameFile(files: readonly FormFile[]): FormFile | undefined {
  const [file, second] = files;
  const other = files.find(({ name }) => name !== FRAME_FILE);
  if (other !== undefined)
    throw invalid(other.name, `must not be a file; only ${FRAME_FILE} may be a file`, 'unknown_field');
  if (second !== undefined) throw invalid(FRAME_FILE, 'must be one file');
  return file;
}

/**
 * Rebuilds the items from flattened fields. Without an index the end of an item is not marked, so a key that the item
 * already has starts the next item.
 */
function regroup(flattened: readonly (readonly [string, string])[]): readonly object[] {
  const items: Map<string, unknown>[] = [];
  const byIndex = new Map<string, Map<string, unknown>>();
  for (const [name, value] of flattened) {
    const [whole, index = '', key = '', inner] = FLATTENED.exec(name) ?? [];
    if (whole === undefined)
      throw invalid(
        name.slice(0, 64),
        'is malformed; write content[][type], content[][text], content[][video_url][url] and so on',
        'invalid_content',
      );
    const item =
      index === ''
        ? getOrAddItemWithout(items, inner === undefined ? key : `${key}.${inner}`)
        : getOrAdd(byIndex, index);
    setField(item, key, inner, value);
  }
  const indexed = [...byIndex].toSorted(([one], [other]) => Number(one) - Number(other)).map(([, item]) => item);
  if (items.length > 0 && indexed.length > 0) throw invalid('content', 'must not mix content[] with content[0]');
  return [...items, ...indexed].map((item) => Object.fromEntries(item));
}

function getOrAddItemWithout(items: Map<string, unknown>[], key: string): Map<string, unknown> {
  const last = items.at(-1);
  const [outer = '', inner] = key.split('.');
  const value = last?.get(outer);
  const taken =
    inner === undefined
      ? value !== undefined
      : typeof value === 'object' && value !== null && Object.hasOwn(value, inner);
  if (last !== undefined && !taken) return last;
  const next = new Map<string, unknown>();
  items.push(next);
  return next;
}

function getOrAdd(items: Map<string, Map<string, unknown>>, index: string): Map<string, unknown> {
  const found = items.get(index) ?? new Map<string, unknown>();
  items.set(index, found);
  return found;
}

function setField(item: Map<string, unknown>, key: string, inner: string | undefined, value: string): void {
  if (inner === undefined) item.set(key, value);
  else item.set(key, { ...(item.get(key) as object | undefined), [inner]: value });
}

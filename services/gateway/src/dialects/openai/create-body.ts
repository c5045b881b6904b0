import { SMALL_JSON, parseBoundedText } from '@reelgate/platform/bounded-json';
import { Problem } from '@reelgate/platform/problem';
import type { ClientBody, Form, FormFile, Schema } from '../dialect.ts';
import { bodyValidator, invalid } from '../wire/body-validator.ts';
import { contentSchema } from '../wire/content-items.ts';
import type { WireItem } from '../wire/content-items.ts';
import { boundSchema, dropNulls, sizeSchema, webhookUrlSchema } from '../wire/flat-fields.ts';
import type { BoundFields, FlatFields } from '../wire/flat-fields.ts';

const FIRST_FRAME = 'input_reference';
/** SDKs flatten an array into form fields such as `content[][type]` or `content[0][video_url][url]`. */
const FLATTENED = /^content\[(\d{0,3})\]\[(\w+)\](?:\[(\w+)\])?$/;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** The members that tell a generation from a regeneration. */
export interface KindEvidence {
  readonly source_task_id?: string;
  readonly action?: string;
  readonly content?: readonly WireItem[];
}

export interface VideoBody extends FlatFields, BoundFields, KindEvidence {
  readonly model: string;
  readonly prompt?: string;
  readonly input_reference?: string | { readonly image_url: string };
  readonly aigc_watermark?: boolean;
  readonly webhook_url?: string;
}

export const inputReference: Schema = {
  description: 'The first frame: a URL, a data URL or base64. A form can carry the file itself.',
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      required: ['image_url'],
      additionalProperties: false,
      properties: { image_url: { type: 'string', minLength: 1 } },
    },
  ],
};

const fields = {
  model: { type: 'string', description: 'The id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The text that describes the video.' },
  seconds: { type: ['string', 'integer'], description: 'The length in whole seconds.', examples: ['5'] },
  size: sizeSchema,
  source_task_id: { type: 'string', description: 'The id of a finished 768P task to render again at 2K.' },
  action: { type: 'string', description: 'generation or regeneration. It must match the rest of the body.' },
  content: contentSchema,
  input_reference: inputReference,
  resolution: {
    type: 'string',
    description: 'A regeneration takes only 2K, which is also its default.',
    examples: ['2K'],
  },
  duration: { type: ['string', 'integer'], description: 'An alias of seconds.' },
  ratio: { type: 'string', description: 'Such as 16:9. It overrides size.', examples: ['16:9'] },
  aigc_watermark: { type: 'boolean', description: 'Only for a regeneration: whether the result has the watermark.' },
  webhook_url: webhookUrlSchema,
  ...boundSchema,
} as const satisfies Readonly<Record<keyof VideoBody, Schema>>;

/** Only names and types. Unknown fields are passed to channels that support them. */
const createSchema: Schema = { type: 'object', required: ['model'], properties: fields };

export const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

const shape = bodyValidator<VideoBody>(createSchema);

/** The fields of the body, and the first frame if the client sent it as a file. */
export function readBody(body: ClientBody): { readonly fields: VideoBody; readonly firstFrame: FormFile | undefined } {
  if ('json' in body) return { fields: shape(dropNulls(body.json)), firstFrame: undefined };
  const { fields: written, firstFrame } = readForm(body.form);
  return { fields: shape(written), firstFrame };
}

/** Converts a form into the JSON body that it represents. */
export function readForm({ fields, files }: Form): {
  readonly fields: object;
  readonly firstFrame: FormFile | undefined;
} {
  const plain = fields.filter(([name]) => !name.startsWith('content['));
  const flattened = fields.filter(([name]) => name.startsWith('content['));
  const names = plain.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(twice, 'must be given only once');
  if (flattened.length > 0 && names.includes('content'))
    throw invalid('content', 'must be one JSON array or content[][…] fields, not both');
  const firstFrame = pickFrameFile(files);
  if (firstFrame !== undefined && names.some((name) => name.startsWith(FIRST_FRAME)))
    throw invalid(FIRST_FRAME, 'must be a file or a URL, not both');
  return {
    fields: Object.fromEntries([
      ...plain.map(readField),
      ...(flattened.length === 0 ? [] : [['content', regroup(flattened)] as const]),
    ]),
    firstFrame,
  };
}

function readField([name, value]: readonly [string, string]): readonly [string, unknown] {
  if (name === 'content') return [name, parseContent(value)];
  if (name === 'aigc_watermark') return [name, BOOLEANS[value] ?? value];
  if (name === `${FIRST_FRAME}[image_url]` || name === `${FIRST_FRAME}[image_url][url]`)
    return [FIRST_FRAME, { image_url: value }];
  if (name.startsWith(`${FIRST_FRAME}[`))
    throw invalid(name, 'is an unknown field; send the first frame as a file or as input_reference[image_url]');
  return [name, value];
}

function parseContent(text: string): unknown {
  try {
    return parseBoundedText(text, SMALL_JSON, 'content');
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw invalid('content', 'must be a JSON array of content items');
  }
}

function pickFrameFile(files: readonly FormFile[]): FormFile | undefined {
  const [file, second] = files;
  const other = files.find(({ name }) => name !== FIRST_FRAME);
  if (other !== undefined)
    throw invalid(other.name, `must not be a file; only ${FIRST_FRAME} may be a file`, 'unknown_field');
  if (second !== undefined) throw invalid(FIRST_FRAME, 'must be one file');
  return file;
}

/**
 * Rebuilds the items from flattened fields. Without an index nothing marks the end of an item, so a key that the item
 * already has starts the next one.
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
    inner === undefined ? value !== undefined : typeof value === 'object' && value !== null && inner in value;
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

import { findNearestRatio, findNearestResolution, parseFrameSize } from '../../domain/frame-size.ts';
import type { FrameSize } from '../../domain/frame-size.ts';
import type { Model } from '../../domain/model-defaults.ts';
import { parseNanos } from '../../domain/decimal.ts';
import type { DecodedParts } from './decoded.ts';
import type { DecodedItem, WireItem } from './content-items.ts';
import { readText } from './content-items.ts';
import { invalid } from './body-validator.ts';
import type { OptionalMembers, Properties, Schema } from '../../domain/schema.ts';

/** The largest value that fits into an order. */
const SECONDS_MAX = 2 ** 31 - 1;

/** Leading zeros are allowed. */
const SECONDS = /^\d{1,40}$/;

/** The flat fields for length and frame in the open dialects. */
export interface FlatFields {
  readonly seconds?: string | number;
  readonly duration?: string | number;
  readonly size?: string;
  readonly ratio?: string;
  readonly aspect_ratio?: string;
  readonly resolution?: string;
}

/** The schema of `size`, without its syntax. */
export const sizeSchema = {
  type: 'string',
  description:
    'Width x height in pixels. It selects the nearest ratio and the nearest resolution of the model; a model with 2K ' +
    'makes it if a side has 2048 pixels or more.',
  examples: ['1280x720'],
} as const;

export interface FrameOrder {
  readonly duration: number;
  readonly ratio: string;
  readonly resolution: string;
  readonly size?: string;
  /** The client's field behind each field of the order. */
  readonly names: Readonly<Record<'duration' | 'ratio' | 'resolution', string>>;
}

/** The length and frame of a generation: from its own field, else from the size, else the default of the model. */
export function readFlatFields(fields: FlatFields, model: Model, dimensions?: FrameSize): FrameOrder {
  const size = dimensions ?? readSize(fields.size);
  const implied =
    size === undefined
      ? model.defaults
      : {
          ratio: findNearestRatio(size, model.ratios) ?? model.defaults.ratio,
          resolution: findNearestResolution(size, model.resolutions) ?? model.defaults.resolution,
        };
  const ratio = readRatio(fields);
  const sizeName = dimensions === undefined ? 'size' : 'width';
  const chooseName = (field: 'ratio' | 'resolution'): string =>
    fields[field] === undefined && size !== undefined ? sizeName : field;
  return {
    duration: readSeconds(fields) ?? model.defaults.duration,
    ratio: ratio ?? implied.ratio,
    resolution: fields.resolution ?? implied.resolution,
    ...(size === undefined ? {} : { size: `${size.width}x${size.height}` }),
    names: {
      duration: fields.seconds === undefined ? 'duration' : 'seconds',
      ratio: fields.ratio === undefined && ratio !== undefined ? 'aspect_ratio' : chooseName('ratio'),
      resolution: chooseName('resolution'),
    },
  };
}

function readSize(text: string | undefined): FrameSize | undefined {
  if (text === undefined) return undefined;
  const size = parseFrameSize(text);
  if (size === undefined)
    throw invalid(
      'size',
      `must be width x height in pixels, such as "1280x720"; it is ${JSON.stringify(text.slice(0, 40))}`,
    );
  return size;
}

function readRatio({ ratio, aspect_ratio: alias }: FlatFields): string | undefined {
  if (ratio !== undefined && alias !== undefined && ratio !== alias)
    throw invalid('aspect_ratio', 'must equal ratio; send one of them', 'invalid_ratio');
  return ratio ?? alias;
}

function readSeconds({ seconds, duration }: FlatFields): number | undefined {
  const [one, other] = [readWholeSeconds('seconds', seconds), readWholeSeconds('duration', duration)];
  if (one !== undefined && other !== undefined && one !== other)
    throw invalid('seconds', 'must equal duration; send one of them');
  return one ?? other;
}

function readWholeSeconds(field: string, value: string | number | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = typeof value === 'number' || SECONDS.test(value) ? Number(value) : Number.NaN;
  if (Number.isInteger(seconds) && Math.abs(seconds) <= SECONDS_MAX) return seconds;
  const given = JSON.stringify(typeof value === 'string' ? value.slice(0, 40) : value);
  throw invalid(field, `must be a whole number of seconds, such as "5"; it is ${given}`);
}

/** The flat prompt as a content item; empty if the content already has the same text. */
export function readPrompt(prompt: string | undefined, content: readonly WireItem[]): DecodedItem[] {
  const texts = content.flatMap((item) => (item.type === 'text' ? [item.text] : []));
  if (prompt === undefined || (prompt.trim() === '' && texts.length > 0)) return [];
  if (texts.length === 0) return [readText(prompt, 'prompt')];
  if (texts.some((text) => text !== prompt))
    throw invalid('prompt', 'must equal the text of content; send one of them');
  return [];
}

/** Refuses a video without text. The refusal names `prompt`, the field that the client most likely expects. */
export function assertHasPrompt(items: readonly DecodedItem[]): void {
  const hasWords = items.some(({ item }) => item.item.case === 'text' && item.item.value.trim() !== '');
  if (!hasWords) throw invalid('prompt', 'is required: describe the video here or in a text item of content');
}

/** Returns the body without null fields, which an open body treats as absent. */
export function dropNulls(body: unknown): unknown {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

const CHARACTERS_MAX = 2048;
const CURRENCY_CHARACTERS_MAX = 256;
const description =
  'An HTTPS URL that is told when the task ends. Its deliveries are signed with the secret of the endpoint `default`.';

/** The field as a body is checked for it; the tasks service judges the URL. */
export const webhookUrlSchema = {
  type: 'string',
  minLength: 1,
  maxLength: CHARACTERS_MAX,
  description,
} as const satisfies Schema;

/** The field as it is documented. */
export const documentedWebhookUrl: Schema = {
  title: 'WebhookUrl',
  ...webhookUrlSchema,
  pattern: '^https?://',
  examples: ['https://example.com/webhooks'],
};

const USER_CHARACTERS_MAX = 512;
const METADATA_MEMBERS_MAX = 16;
const METADATA_NAME_CHARACTERS_MAX = 64;
const METADATA_CHARACTERS_MAX = 512;

/**
 * The fields of the open dialects that do not describe the video, as a body is checked for them and as they are
 * documented.
 */
export const clientSchemas = {
  n: { const: 1, description: 'A create makes one video.' },
  user: {
    type: 'string',
    maxLength: USER_CHARACTERS_MAX,
    description: 'Who asks, in your own words. It goes to a generator that takes it, and changes no video.',
  },
  metadata: {
    title: 'ClientMetadata',
    type: 'object',
    maxProperties: METADATA_MEMBERS_MAX,
    propertyNames: { maxLength: METADATA_NAME_CHARACTERS_MAX },
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: METADATA_CHARACTERS_MAX },
    description: 'Your own words. They are accepted, and not kept. A member that names a field of a video is refused.',
  },
} as const satisfies Properties;

const boundProperties = {
  max_amount: {
    type: 'string',
    description: 'The most that the video may cost, as a decimal. A create that can cost more is refused.',
    examples: ['0.40'],
  },
  currency: { type: 'string', description: 'The currency of max_amount. The account must have it.', examples: ['USD'] },
} as const satisfies Properties;

/** The fields that bound the price of a create in the open dialects, as a body is checked for them. */
export const boundSchema = {
  max_amount: { ...boundProperties.max_amount, minLength: 1 },
  currency: { ...boundProperties.currency, minLength: 1, maxLength: CURRENCY_CHARACTERS_MAX },
} as const satisfies Properties;

export type BoundFields = OptionalMembers<typeof boundSchema>;

/** The fields as they are documented. */
export const documentedBound: Readonly<Record<keyof BoundFields, Schema>> = {
  max_amount: { title: 'MaxAmount', ...boundProperties.max_amount, pattern: '^[0-9]{1,9}([.][0-9]{1,9})?$' },
  currency: { title: 'Currency', ...boundProperties.currency, pattern: '^[A-Z]{3}$' },
};

/** Reads the bound of a create. The tasks service has it compared with the price. */
export function readBound({
  max_amount: text,
  currency,
}: BoundFields): Pick<DecodedParts, 'maxAmountNanos' | 'currency'> {
  if (text === undefined) return { currency };
  const maxAmountNanos = parseNanos(text);
  if (maxAmountNanos === undefined || maxAmountNanos < 0n)
    throw invalid('max_amount', 'must be a decimal such as "0.40", with at most nine places');
  return { maxAmountNanos, currency };
}

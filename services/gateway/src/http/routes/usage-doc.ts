import type { TokenParts } from '@reelgate/proto/billing/v1/price';
import type { ChargedItem, Usage } from '@reelgate/proto/billing/v1/usage_service';
import { USAGE_GROUPS } from '../../clients/usage-client.ts';
import type { UsageGrouping } from '../../clients/usage-client.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { memberSchemas, objectSchema } from '../../domain/schema.ts';
import type { RouteDoc } from './route.ts';

export const USAGE_SPLITS = { model: 'model', token: 'token', label: 'label' } as const;
export const USAGE_FORMATS = { json: 'json', csv: 'csv' } as const;

/** The quantities under the names that a client sees, with their fields in the contract. */
const COUNTS = {
  requests: 'requests',
  seconds: 'seconds',
  input_tokens: 'inputTokens',
  cached_input_tokens: 'cachedInputTokens',
  output_tokens: 'outputTokens',
  images: 'images',
  characters: 'characters',
} as const satisfies Readonly<Record<string, keyof Usage>>;
const TOKEN_PARTS = {
  cache_write_tokens: 'cacheWrite',
  cache_write_1h_tokens: 'cacheWrite1h',
  audio_input_tokens: 'audioInput',
  cached_audio_tokens: 'cachedAudio',
  image_input_tokens: 'imageInput',
  cached_image_tokens: 'cachedImage',
  reasoning_tokens: 'reasoning',
  audio_output_tokens: 'audioOutput',
  image_output_tokens: 'imageOutput',
} as const satisfies Readonly<Record<string, keyof TokenParts>>;

export const USAGE_COUNTS = Object.keys(COUNTS) as readonly (keyof typeof COUNTS)[];
const TOKEN_PART_NAMES = Object.keys(TOKEN_PARTS) as readonly (keyof typeof TOKEN_PARTS)[];
export const CHARGED_PARTS = [...TOKEN_PART_NAMES, 'searches'] as const;

type Counts<Name extends string> = Readonly<Record<Name, number>>;

/** Encodes the charge and the quantities of a group or of one item, without the parts of its tokens. */
export function encodeSum(usage: Usage): Counts<keyof typeof COUNTS> & { readonly amount: string } {
  const counts = USAGE_COUNTS.map((name) => [name, Number(usage[COUNTS[name]])] as const);
  return {
    amount: formatDecimal(usage.amountNanos),
    ...(Object.fromEntries(counts) as Counts<keyof typeof COUNTS>),
  };
}

/** Encodes the parts of the tokens and the searches. Zero is left out. */
export function encodeParts({ parts, searches }: Usage | ChargedItem): Partial<Counts<(typeof CHARGED_PARTS)[number]>> {
  const counts = TOKEN_PART_NAMES.map((name) => [name, parts?.[TOKEN_PARTS[name]] ?? 0n] as const);
  return Object.fromEntries(
    [...counts, ['searches', searches] as const].flatMap(([name, many]) => (many === 0n ? [] : [[name, Number(many)]])),
  );
}

const count = { type: 'integer' } as const;
/** The charge and the quantities of a group or of one item. */
export const SUM = {
  amount: { type: 'string', description: 'A decimal number.' },
  ...memberSchemas(USAGE_COUNTS, count),
  parts: {
    type: 'object',
    description:
      'The parts of the tokens and the searches that upstreams reported; zero is left out. Written cache, sound and ' +
      'pictures are parts of the input, reasoning and the last two kinds of tokens parts of the output.',
    additionalProperties: false,
    properties: memberSchemas(CHARGED_PARTS, count),
  },
} as const;
const SUM_NAMES = Object.keys(SUM) as readonly (keyof typeof SUM)[];
const timestamp = {
  type: 'string',
  anyOf: [{ format: 'date' }, { format: 'date-time' }, { pattern: '^([0-9]{1,11})?$' }],
};
const TIMESTAMP = 'A date (UTC), an RFC 3339 timestamp, or Unix seconds.';

export const SPAN_PARAMETERS: NonNullable<RouteDoc['parameters']> = [
  {
    name: 'from',
    description: `${TIMESTAMP} Default: 30 days ago.`,
    schema: { ...timestamp, examples: ['2026-11-01'] },
  },
  {
    name: 'to',
    description: `${TIMESTAMP} A date is inclusive, a timestamp exclusive. Default: now.`,
    schema: { ...timestamp, examples: ['2026-11-30'] },
  },
];

/** The documentation of `GET /v1/usage` in OpenAPI, without its answers. */
export const usageDoc: Omit<RouteDoc, 'answers'> = {
  tag: 'Usage',
  operationId: 'getUsage',
  summary: 'Read what the account was charged for tasks and calls',
  description:
    'A charge belongs to the day of its settlement, in UTC. A statement covers at most 366 days and 1000 groups, or 10000 parts of days.',
  parameters: [
    ...SPAN_PARAMETERS,
    {
      name: 'group_by',
      description: 'Groups the charges by this property.',
      schema: { enum: [...Object.keys(USAGE_GROUPS), ''], default: 'day' },
    },
    {
      name: 'split_by',
      description: 'Splits each day once more. It needs `group_by=day`.',
      schema: { enum: [...Object.keys(USAGE_SPLITS), ''] },
    },
    {
      name: 'format',
      description: 'The format of the statement. `Accept: text/csv` selects csv too.',
      schema: { enum: [...Object.keys(USAGE_FORMATS), ''], default: 'json' },
    },
  ],
  refuses: [400],
};

export const groupings = Object.keys(USAGE_GROUPS) as readonly UsageGrouping[];
const splits = Object.keys(USAGE_SPLITS) as readonly (keyof typeof USAGE_SPLITS)[];
const isoTime = { type: 'string', format: 'date-time' } as const;

/** The statement as JSON. */
export const statementSchema = {
  title: 'UsageStatement',
  ...objectSchema(
    {
      object: { const: 'usage' },
      account: { type: 'string' },
      currency: { type: 'string' },
      from: isoTime,
      to: { ...isoTime, description: 'The exclusive end of the statement.' },
      group_by: { enum: groupings },
      split_by: { enum: splits },
      data: {
        type: 'array',
        items: {
          type: 'object',
          required: SUM_NAMES,
          additionalProperties: false,
          description:
            'Names its group, and the part of its day, in `model`, in `day`, in `token` and `name`, or in `label`, ' +
            'which is empty for what has none.',
          properties: {
            model: { type: 'string' },
            day: { type: 'string', format: 'date' },
            token: { type: 'string' },
            name: { type: 'string' },
            label: { type: 'string' },
            ...SUM,
          },
        },
      },
      total: objectSchema(SUM),
      has_more: { type: 'boolean', description: 'True if more groups exist. The total includes them.' },
    },
    ['split_by'],
  ),
} as const;

import type { ModelOperation } from '@reelgate/proto/tasks/v1/task_service';
import { PRICE_UNITS } from '../clients/models-client.ts';
import { ROLE_WORDS, WIRE_KINDS } from '../clients/task-words.ts';
import type { PlainKind } from '../clients/task-words.ts';
import { emptyToUndefined } from '../clients/wire-values.ts';
import { memberSchemas, objectSchema } from '../domain/schema.ts';
import type { Draft, TypeOf } from '../domain/schema.ts';
import { dropUndefined } from '../dialects/wire/task-fields.ts';
import { formatDecimal } from '../domain/decimal.ts';
import type { GenerationLimits, ModelPrice, VideoModel, TokenCaller, VideoModels } from './list-models.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { jsonRoute } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';

const PATH = '/v1/videos/models';
const TAG = 'Models';
const READ = { kind: 'read', methods: ['GET'], token: { counts: 'reads' } } as const;

/** The parts that the catalogue needs. */
export interface VideoModelRouteParts {
  readonly videoModels: VideoModels;
}

/** The catalogue of video models: the models that the token may order from, with their limits and prices. */
export function videoModelRoutes({ videoModels }: VideoModelRouteParts): RouteEntry[] {
  const list = (path: string, operationId: string): RouteEntry =>
    jsonRoute({
      ...READ,
      path,
      doc: {
        tag: TAG,
        operationId,
        summary: 'List the video models that the token may use, with limits and prices',
        description: 'In the shape of OpenRouter, with more members. Every generation within the limits is valid.',
      },
      answer: { title: 'VideoModelList', ...objectSchema({ data: { type: 'array', items: videoModelSchema } }) },
      respond: async (exchange) => ({ data: (await videoModels.list(toTokenCaller(exchange))).map(encodeVideoModel) }),
    });
  return [
    list(PATH, 'listVideoModels'),
    list(`/api${PATH}`, 'listOpenRouterVideoModels'),
    jsonRoute({
      ...READ,
      path: `${PATH}/{model}`,
      doc: {
        tag: TAG,
        operationId: 'getVideoModel',
        summary: 'Read a video model that the token may use',
        refuses: [404],
      },
      answer: videoModelSchema,
      respond: async (exchange) =>
        encodeVideoModel(await videoModels.find(exchange.params['model'] ?? '', toTokenCaller(exchange))),
    }),
  ];
}

function toTokenCaller(exchange: Exchange): TokenCaller {
  const { accountId, tokenId } = requirePrincipal(exchange);
  const { requestId, span } = exchange.state;
  return { accountId, tokenId, requestId, span };
}

const FRAMES = ['first_frame', 'last_frame'] as const;
/** The roles of a generation. */
const ROLES = [...FRAMES, 'reference_image', 'reference_video', 'reference_audio'] as const;
/** OpenRouter's prices are in this currency; in another one they would mislead. */
const SKU_CURRENCY = 'USD';
/** OpenRouter has these features; the gateway does not know them. */
const UNKNOWN = {
  supported_sizes: null,
  generate_audio: null,
  seed: null,
  creativity: null,
  upscale_factor: null,
} as const;
const unknownNames = Object.keys(UNKNOWN) as readonly (keyof typeof UNKNOWN)[];

const text = { type: 'string' } as const;
const unknown = { type: 'null', description: 'Not known.' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const texts = { type: 'array', items: text } as const;
const textsOrNull = { type: ['array', 'null'], items: text } as const;
const kinds = Object.keys(WIRE_KINDS) as readonly PlainKind[];

const price = {
  title: 'ModelPrice',
  description: 'The price of one unit. The amount of an order is the sum over its units.',
  ...objectSchema(
    {
      operation: { enum: kinds },
      unit: { enum: PRICE_UNITS, description: 'hold is reserved in place of tokens, which are known only afterwards.' },
      resolution: { ...text, description: 'Absent: any.' },
      free: { ...count, description: 'How many units of an order are free.' },
      amount: { ...text, description: 'A decimal number.' },
    },
    ['resolution', 'free'],
  ),
} as const;

const videoModelSchema = {
  title: 'VideoModel',
  description: 'The limits are those of a generation. They are null or absent if the model makes none.',
  ...objectSchema(
    {
      id: text,
      canonical_slug: text,
      name: text,
      created: { type: 'integer' },
      supported_durations: { type: ['array', 'null'], items: { type: 'integer' } },
      supported_resolutions: textsOrNull,
      supported_aspect_ratios: textsOrNull,
      supported_frame_images: textsOrNull,
      ...memberSchemas(unknownNames, unknown),
      allowed_passthrough_parameters: texts,
      pricing_skus: { type: 'object', additionalProperties: text, description: 'Only for accounts in USD.' },
      duration: objectSchema({ min: count, max: count, step: { const: 1 } }),
      defaults: objectSchema({ duration: count, resolution: text, ratio: text }),
      prompt_max: { ...count, description: 'Characters.' },
      media: objectSchema({
        max: { ...count, description: 'Of all roles together.' },
        ...memberSchemas(ROLES, count),
        frames_exclude_references: { type: 'boolean' },
        audio_needs_picture: { type: 'boolean', description: 'A reference_audio needs a reference image or video.' },
        more_ratios: { ...texts, description: 'Further ratios, only for an order with media.' },
      }),
      operations: { type: 'array', items: { enum: kinds } },
      prices: { type: 'array', items: price },
      currency: text,
    },
    ['pricing_skus', 'duration', 'defaults', 'prompt_max', 'media'],
  ),
} as const;

type VideoModelAnswer = TypeOf<typeof videoModelSchema>;

/** Encodes a model with the members of OpenRouter, and beside them the limits and prices of this service. */
export function encodeVideoModel(model: VideoModel): VideoModelAnswer {
  const { id, operations, generation, prices, currency } = model;
  return {
    id,
    canonical_slug: id,
    name: id,
    created: 0,
    supported_durations: generation === undefined ? null : listDurations(generation),
    supported_resolutions: generation?.resolutions ?? null,
    supported_aspect_ratios: generation?.ratios ?? null,
    supported_frame_images: generation === undefined ? null : listFrames(generation.operation),
    ...UNKNOWN,
    allowed_passthrough_parameters: [],
    ...(currency === SKU_CURRENCY ? { pricing_skus: toSkus(prices) } : {}),
    ...(generation && encodeLimits(generation)),
    operations,
    prices: prices.map(encodePrice),
    currency,
  };
}

function encodeLimits({ duration, defaults, operation, mediaRatios }: GenerationLimits): Partial<VideoModelAnswer> {
  return {
    duration: { ...duration, step: 1 },
    defaults,
    prompt_max: operation.textMax,
    media: {
      max: operation.mediaMax,
      ...countRoles(operation),
      frames_exclude_references: operation.framesExcludeReferences,
      audio_needs_picture: operation.audioNeedsPicture,
      more_ratios: mediaRatios,
    },
  };
}

/** Returns the most items of each role. */
function countRoles({ roles }: ModelOperation): Readonly<Record<(typeof ROLES)[number], number>> {
  const limits = new Map<string | undefined, number>(roles.map(({ role, max }) => [ROLE_WORDS[role], max]));
  return Object.fromEntries(ROLES.map((role) => [role, limits.get(role) ?? 0])) as Record<
    (typeof ROLES)[number],
    number
  >;
}

function listDurations({ duration: { min, max } }: GenerationLimits): readonly number[] {
  return Array.from({ length: max - min + 1 }, (_, at) => min + at);
}

function listFrames(operation: ModelOperation): readonly string[] {
  const limits = countRoles(operation);
  return FRAMES.filter((role) => limits[role] > 0);
}

/** The prices that OpenRouter's names can express: per second and per request. */
function toSkus(prices: readonly ModelPrice[]): Readonly<Record<string, string>> {
  const own = prices.filter(({ operation }) => operation === 'generation');
  return Object.fromEntries(
    own.flatMap(({ unit, price: { resolution, amountNanos } }) => {
      if (unit === 'request') return [['per-request', formatDecimal(amountNanos)]];
      if (unit !== 'output_second' || resolution === '') return [];
      return [[`per-video-second-${resolution.toLowerCase()}`, formatDecimal(amountNanos)]];
    }),
  );
}

function encodePrice({
  operation,
  unit,
  price: { resolution, free, amountNanos },
}: ModelPrice): VideoModelAnswer['prices'][number] {
  return dropUndefined({
    operation,
    unit,
    resolution: emptyToUndefined(resolution),
    free: Number(free) || undefined,
    amount: formatDecimal(amountNanos),
  } satisfies Draft<VideoModelAnswer['prices'][number]>);
}

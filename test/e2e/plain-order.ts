import type { MessageInitShape } from '@bufbuild/protobuf';
import { MediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ContentItemSchema, OrderSchema } from '@reelgate/proto/tasks/v1/order';

type Init = MessageInitShape<typeof OrderSchema>;
type Item = MessageInitShape<typeof ContentItemSchema>;
type Fields = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, TaskKind>> = {
  '/v1/videos': TaskKind.GENERATION,
  '/api/v1/videos': TaskKind.GENERATION,
  '/v1/video/generations': TaskKind.GENERATION,
  '/v2/video_generation': TaskKind.GENERATION,
  '/v2/video_regeneration': TaskKind.REGENERATION,
  '/v2/h3_context_ir': TaskKind.CONTEXT_IR,
};
const MEDIA: Readonly<Record<string, MediaKind>> = {
  image_url: MediaKind.IMAGE,
  video_url: MediaKind.VIDEO,
  audio_url: MediaKind.AUDIO,
};
const INT32_MAX = 2 ** 31 - 1;

/** What an order cannot say: a field of another name, or a value of another type. */
const UNSAYABLE = Symbol('unsayable');

type Say = (value: unknown) => Partial<Init> | typeof UNSAYABLE;

const text =
  (name: 'model' | 'resolution' | 'ratio' | 'sourceTaskId' | 'callbackUrl'): Say =>
  (value) =>
    typeof value === 'string' && value.isWellFormed() ? { [name]: value } : UNSAYABLE;

/** A text in the place of the content. */
const prompt: Say = (value) =>
  typeof value === 'string' && value.isWellFormed() ? { content: [{ item: { case: 'text', value } }] } : UNSAYABLE;

const duration: Say = (value) =>
  Number.isInteger(value) && Math.abs(value as number) <= INT32_MAX ? { duration: value as number } : UNSAYABLE;

/** Of the flat bodies, which have them as text. */
const seconds: Say = (value) => duration(typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value);

const content: Say = (value) => {
  const items = Array.isArray(value) ? value.map(itemOf) : [UNSAYABLE];
  return items.includes(UNSAYABLE) ? UNSAYABLE : { content: items as Item[] };
};

const FIELDS: Readonly<Record<string, Say>> = {
  model: text('model'),
  resolution: text('resolution'),
  ratio: text('ratio'),
  source_task_id: text('sourceTaskId'),
  callback_url: text('callbackUrl'),
  aigc_watermark: (value) => (typeof value === 'boolean' ? { aigcWatermark: value } : UNSAYABLE),
  duration,
  seconds,
  prompt,
  content,
};

/** What the flat bodies mean if they do not say it. */
const DEFAULTS: Init = { duration: 5, resolution: '768P', ratio: '16:9' };

/**
 * The body of a create, field by field as an order, for a body that its dialect refuses; undefined if no order can say
 * it. Over gRPC the caller names the kind, so a flat body with evidence of a regeneration has no order.
 */
export function plainOrder(path: string, body: object): Init | undefined {
  const names = Object.keys(body);
  const isFlat = !path.startsWith('/v2');
  if (names.includes('prompt') && names.includes('content')) return undefined;
  if (isFlat && /base_video|source_task_id/.test(JSON.stringify(body))) return undefined;
  const parts = Object.entries(body).map(([name, value]) => FIELDS[name]?.(value) ?? UNSAYABLE);
  if (parts.includes(UNSAYABLE)) return undefined;
  return Object.assign({ kind: KINDS[path], ...(isFlat ? DEFAULTS : {}) }, ...(parts as object[])) as Init;
}

function itemOf(value: unknown): Item | typeof UNSAYABLE {
  const { type, role, ...rest } = (value ?? {}) as Fields;
  const [[name, inner] = [], ...others] = Object.entries(rest);
  if (typeof type !== 'string' || name !== type || others.length > 0) return UNSAYABLE;
  if (type === 'text') return role === undefined ? textItem(inner) : UNSAYABLE;
  return mediaItem(MEDIA[type], role ?? 'unspecified', inner);
}

function textItem(value: unknown): Item | typeof UNSAYABLE {
  return typeof value === 'string' && value.isWellFormed() ? { item: { case: 'text', value } } : UNSAYABLE;
}

function mediaItem(kind: MediaKind | undefined, role: unknown, address: unknown): Item | typeof UNSAYABLE {
  const { url, ...more } = (address ?? {}) as Fields;
  const known = MediaRole[String(role).toUpperCase() as keyof typeof MediaRole] as MediaRole | undefined;
  if (kind === undefined || known === undefined || typeof url !== 'string' || Object.keys(more).length > 0)
    return UNSAYABLE;
  return { item: { case: 'media', value: { kind, role: known, url } } };
}

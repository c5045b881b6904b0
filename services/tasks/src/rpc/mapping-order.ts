import { SMALL_JSON, parseBoundedText } from '@reelgate/platform/bounded-json';
import { Problem } from '@reelgate/platform/problem';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { EveryField } from '@reelgate/platform/rpc/service';
import { MediaKind, MediaRole, OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type {
  ContentItem as WireItem,
  MediaItem as WireMedia,
  Order as WireOrder,
} from '@reelgate/proto/tasks/v1/order';
import { isMedia } from '../domain/order.ts';
import type { ContentItem, Kind, MediaItem, MediaKind as Media, Order, Role } from '../domain/order.ts';

export const KINDS: Readonly<Record<Kind, TaskKind>> = {
  generation: TaskKind.GENERATION,
  regeneration: TaskKind.REGENERATION,
  context_ir: TaskKind.CONTEXT_IR,
};
export const MEDIA: Readonly<Record<Media, MediaKind>> = {
  image: MediaKind.IMAGE,
  video: MediaKind.VIDEO,
  audio: MediaKind.AUDIO,
};
export const ROLES: Readonly<Record<Role, MediaRole>> = {
  first_frame: MediaRole.FIRST_FRAME,
  last_frame: MediaRole.LAST_FRAME,
  reference_image: MediaRole.REFERENCE_IMAGE,
  reference_video: MediaRole.REFERENCE_VIDEO,
  reference_audio: MediaRole.REFERENCE_AUDIO,
  base_video: MediaRole.BASE_VIDEO,
};

/** The name of a wire value in one of these tables. The rules of the contract refuse every other value. */
export function fromWireEnum<K extends string>(table: Readonly<Record<K, number>>, value: number): K {
  const found = (Object.keys(table) as K[]).find((name) => table[name] === value);
  return requireField(found, `a name of the value ${value}`);
}

/** Converts an order from the wire. */
export function fromWireOrder(order: WireOrder | undefined): Order {
  const wire = requireField(order, 'order');
  return dropUndefined<Order>({
    kind: fromWireEnum(KINDS, wire.kind),
    model: wire.model,
    content: wire.content.map(fromWireItem),
    duration: wire.duration,
    resolution: wire.resolution,
    ratio: wire.ratio,
    sourceTaskId: wire.sourceTaskId === '' ? undefined : wire.sourceTaskId,
    aigcWatermark: wire.aigcWatermark,
    callbackUrl: wire.callbackUrl,
    size: wire.size,
    extraJson: fromWireExtra(wire.extraJson),
    optionalExtra: wire.optionalExtra.length === 0 ? undefined : wire.optionalExtra,
  });
}

const EXTRA_FIELD = 'order.extra_json';

/** A frozen order is read for the life of its task, so text that is not an object is refused here. */
function fromWireExtra(json: string): string | undefined {
  if (json === '') return undefined;
  if (!isObject(json)) {
    throw new Problem({
      kind: 'invalid',
      reason: 'invalid_request',
      field: EXTRA_FIELD,
      message: 'must be a JSON object',
    });
  }
  return json;
}

function isObject(json: string): boolean {
  try {
    const value = parseBoundedText(json, SMALL_JSON, EXTRA_FIELD);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch (error) {
    if (error instanceof Problem) throw error;
    return false;
  }
}

function fromWireItem({ item }: WireItem): ContentItem {
  if (item.case === 'text') return { text: item.value };
  const { kind, role, url, object, declaredType } = requireField(item.value, 'item');
  return dropUndefined<MediaItem>({
    media: fromWireEnum(MEDIA, kind),
    role: role === MediaRole.UNSPECIFIED ? undefined : fromWireEnum(ROLES, role),
    url: url === '' ? undefined : url,
    object: object === '' ? undefined : object,
    declaredType: declaredType === '' ? undefined : declaredType,
  });
}

export function toWireOrder(order: Order): WireOrder {
  return {
    $typeName: 'reelgate.tasks.v1.Order',
    kind: KINDS[order.kind],
    model: order.model,
    content: order.content.map(toWireItem),
    duration: order.duration,
    resolution: order.resolution,
    ratio: order.ratio,
    sourceTaskId: order.sourceTaskId ?? '',
    aigcWatermark: order.aigcWatermark,
    callbackUrl: order.callbackUrl,
    size: order.size,
    extraJson: order.extraJson ?? '',
    optionalExtra: [...(order.optionalExtra ?? [])],
  } satisfies EveryField<WireOrder>;
}

function toWireItem(item: ContentItem): WireItem {
  return {
    $typeName: 'reelgate.tasks.v1.ContentItem',
    item: isMedia(item) ? { case: 'media', value: toWireMedia(item) } : { case: 'text', value: item.text },
  } satisfies EveryField<WireItem>;
}

function toWireMedia({ media, role, url = '', object = '', declaredType = '' }: MediaItem): WireMedia {
  return {
    $typeName: 'reelgate.tasks.v1.MediaItem',
    kind: MEDIA[media],
    role: role === undefined ? MediaRole.UNSPECIFIED : ROLES[role],
    url,
    object,
    declaredType,
  } satisfies EveryField<WireMedia>;
}

/** Removes the undefined ones of all members, so equal orders are stored equally. */
function dropUndefined<T extends object>(value: { readonly [K in keyof Required<T>]: T[K] }): T {
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) if (inner !== undefined) kept[name] = inner;
  return kept as T;
}

const FIELDS: ReadonlySet<string> = new Set(OrderSchema.fields.map(({ name }) => name));
/** The parts of a media item, as the rules of an order name them. */
const OF_ITEM: readonly (readonly [RegExp, string])[] = [
  [/^(content\[\d+\])\.(?:image|video|audio)_url$/, '$1.media.url'],
  [/^(content\[\d+\])\.role$/, '$1.media.role'],
];

/** Awaits the work of a request that has an order. A refusal then names the field by its path in the contract. */
export async function inContractTerms<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem) || error.field === undefined) throw error;
    const { kind, reason, message, retryAfterMs, metadata, cause } = error;
    throw new Problem({ kind, reason, message, retryAfterMs, metadata, cause, field: contractPath(error.field) });
  }
}

/** Such as `order.content[0].media.url` for `content[0].image_url`. A field beside the order stays as it is. */
export function contractPath(field: string): string {
  if (!FIELDS.has(/^\w+/.exec(field)?.[0] ?? '')) return field;
  return `order.${OF_ITEM.reduce((path, [pattern, named]) => path.replace(pattern, named), field)}`;
}

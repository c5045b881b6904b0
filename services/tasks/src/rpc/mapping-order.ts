import { SMALL_JSON, parseBoundedText } from '@reelgate/platform/bounded-json';
import { Problem } from '@reelgate/platform/problem';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import { MediaKind, MediaRole, OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ContentItem as WireItem, Order as WireOrder } from '@reelgate/proto/tasks/v1/order';
import type { ContentItem, MediaItem, Order } from '../domain/order.ts';
import { refuse } from '../refusals.ts';

export const KIND_WORDS = deriveWords(TaskKind);
export const MEDIA_WORDS = deriveWords(MediaKind);
const ROLE_WORDS = deriveWords(MediaRole);

/** The word of a wire value. The rules of the contract refuse every value without one. */
export function fromWireEnum<W extends string>(words: Readonly<Record<number, W | undefined>>, value: number): W {
  return requireField(words[value], `a name of the value ${value}`);
}

/** The word of a wire value; undefined for zero, which is not set. */
export function fromOptionalEnum<W extends string>(
  words: Readonly<Record<number, W | undefined>>,
  value: number,
): W | undefined {
  return value === 0 ? undefined : fromWireEnum(words, value);
}

/** Converts an order from the wire. */
export function fromWireOrder(order: WireOrder | undefined): Order {
  const wire = requireField(order, 'order');
  return dropUndefined<Order>({
    kind: fromWireEnum(KIND_WORDS, wire.kind),
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
    throw refuse('invalid_request', { field: EXTRA_FIELD, message: 'must be a JSON object' });
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
    media: fromWireEnum(MEDIA_WORDS, kind),
    role: fromOptionalEnum(ROLE_WORDS, role),
    url: url === '' ? undefined : url,
    object: object === '' ? undefined : object,
    declaredType: declaredType === '' ? undefined : declaredType,
  });
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

/** Such as `order.content[0].media.url` for `content[0].image_url`. A field next to the order stays as it is. */
export function contractPath(field: string): string {
  if (!FIELDS.has(/^\w+/.exec(field)?.[0] ?? '')) return field;
  return `order.${OF_ITEM.reduce((path, [pattern, named]) => path.replace(pattern, named), field)}`;
}

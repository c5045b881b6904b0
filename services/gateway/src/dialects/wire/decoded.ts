import type { MessageInitShape } from '@bufbuild/protobuf';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Order, OrderSchema } from '@reelgate/proto/tasks/v1/order';
import type { Problem } from '@reelgate/platform/problem';
import type { BesideOrder, DecodedOrder } from '../dialect.ts';
import { toItemType } from './content-items.ts';
import type { DecodedItem } from './content-items.ts';
import { readOwn } from '../../domain/read-own.ts';
import { dropUndefined } from './task-fields.ts';
import { describeRightField } from './unknown-fields.ts';
import type { RightFields } from './unknown-fields.ts';
import { refuse } from '../../refusals.ts';

/** The limit on the characters of all texts and URLs together: more than any model reads, less than a call can hold. */
const ORDER_CHARACTERS_MAX = 1_000_000;

/** The client's names for members beside the order. */
const BESIDE_NAMES: Readonly<Record<string, string>> = { max_amount_nanos: 'max_amount' };

type Beside = { readonly [K in keyof BesideOrder]?: BesideOrder[K] | undefined };

export interface DecodedParts extends Beside {
  readonly order: Omit<MessageInitShape<typeof OrderSchema>, 'content' | '$typeName'>;
  readonly items: readonly DecodedItem[];
  /** The client's names for fields of the order, where they differ. */
  readonly names?: Readonly<Record<string, string>>;
  /** Every field of an open dialect, for the refusal of an unknown field. A strict dialect lists no fields here. */
  readonly known?: readonly string[];
  readonly right?: RightFields;
}

export function toDecodedOrder({ order, items, names = {}, known, right, ...beside }: DecodedParts): DecodedOrder {
  const decoded = {
    order: toWireOrder(order, items),
    inline: items.flatMap(({ inline }, item) => (inline === undefined ? [] : [{ ...inline, item }])),
    clientField: (field: string) => toClientField(field, { ...BESIDE_NAMES, ...names }, items),
    ...(known && { describeRight: (field: string) => describeRightField(field, known, right) }),
    beside: dropUndefined(beside),
  };
  assertFits(decoded, items);
  return decoded;
}

function toWireOrder(order: DecodedParts['order'], items: readonly DecodedItem[]): Order {
  return {
    $typeName: 'reelgate.tasks.v1.Order',
    kind: order.kind ?? TaskKind.UNSPECIFIED,
    model: order.model ?? '',
    content: items.map(({ item }) => item),
    duration: order.duration,
    resolution: order.resolution,
    ratio: order.ratio,
    sourceTaskId: order.sourceTaskId ?? '',
    aigcWatermark: order.aigcWatermark,
    callbackUrl: order.callbackUrl,
    size: order.size,
    extraJson: order.extraJson ?? '',
    optionalExtra: order.optionalExtra ?? [],
  } satisfies EveryField<Order>;
}

function toClientField(field: string, names: Readonly<Record<string, string>>, items: readonly DecodedItem[]): string {
  const [, index, rest = ''] = /^content\[(\d+)\](.*)$/.exec(field) ?? [];
  const item = index === undefined ? undefined : items[Number(index)];
  if (item === undefined) return readOwn(names, field) ?? field;
  return item.field.startsWith('content[') ? item.field + toClientPart(rest, item) : item.field;
}

/** Returns the client's name for a part of an item, which the contract keeps below `media`. */
function toClientPart(part: string, { item: { item } }: DecodedItem): string {
  const [, name] = /^\.media\.(\w+)$/.exec(part) ?? [];
  if (name === 'url' && item.case === 'media') return `.${toItemType(item.value.kind)}`;
  return name === undefined ? part : `.${name}`;
}

function assertFits({ order }: DecodedOrder, items: readonly DecodedItem[]): void {
  const lengths = order.content.map(({ item }) =>
    item.case === 'text' ? item.value.length : (item.value?.url.length ?? 0),
  );
  const others = [
    order.model,
    order.sourceTaskId,
    order.callbackUrl,
    order.extraJson,
    order.resolution,
    order.ratio,
    order.size,
  ];
  const beside = others.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  if (beside + lengths.reduce((sum, length) => sum + length, 0) <= ORDER_CHARACTERS_MAX) return;
  const most = Math.max(0, ...lengths);
  throw refuseLength(most > beside ? items[lengths.indexOf(most)]?.field : undefined);
}

function refuseLength(field: string | undefined): Problem {
  return refuse(field === undefined ? 'invalid_request' : 'invalid_content', {
    field,
    message:
      `${field === undefined ? 'the body ' : ''}is too long; ` +
      `the texts and URLs of a request must have at most ${ORDER_CHARACTERS_MAX} characters together`,
  });
}

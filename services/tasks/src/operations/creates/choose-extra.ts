import type { ExtraOrder } from '../../channels/channel.ts';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { CHOICES_MAX, listExtraFields } from '../../channels/extra-fields.ts';
import type { ExtraFault } from '../../channels/extra-fields.ts';
import { isMedia, resolveRole } from '../../domain/order.ts';
import type { Order } from '../../domain/order.ts';
import { toRefusal } from '../task-refusals.ts';

/** A client can send any name and any text. A refusal shows this much of them. */
const SHOWN_CHARACTERS_MAX = 64;

interface Choice {
  /** The channels that pass every extra field of the order to their upstreams. */
  readonly runtimes: readonly ChannelRuntime[];
  /** The order without the optional fields that no channel takes. */
  readonly order: Order;
}

/**
 * Chooses the channels that accept the extra fields of an order, and refuses a field that no channel accepts. An
 * optional field is left out instead, unless a channel accepts it with another value.
 */
export function chooseByExtra(order: Order, runtimes: readonly ChannelRuntime[]): Choice {
  if (order.extraJson === undefined) return { runtimes, order };
  const faults = new Map(
    runtimes.map((runtime) => [runtime, runtime.channel.findExtraFaults(toExtraOrder(order, runtime))]),
  );
  const isOptional = (field: string): boolean => order.optionalExtra?.includes(field) === true;
  // an optional field leaves out no channel that a required one needs
  const fields = listExtraFields(order.extraJson).toSorted(
    ([one], [other]) => Number(isOptional(one)) - Number(isOptional(other)),
  );
  const left = new Set<string>();
  let taking = runtimes;
  for (const [field, value] of fields) {
    const next = taking.filter((runtime) => findFault(faults.get(runtime), field) === undefined);
    if (next.length > 0) {
      taking = next;
      continue;
    }
    const found = taking.flatMap((runtime) => findFault(faults.get(runtime), field) ?? []);
    const expected = found.find((fault) => fault.expected !== undefined)?.expected;
    if (expected === undefined && isOptional(field)) left.add(field);
    else throw refuseField(field, { value, expected, model: order.model, isAlone: taking.length === runtimes.length });
  }
  return { runtimes: taking, order: left.size === 0 ? order : withoutExtra(order, left) };
}

/** Lists the choices of an order that can have a price of their own at one of its channels. */
export function listChoices({ order, runtimes }: Choice): readonly string[] {
  if (order.extraJson === undefined) return [];
  const choices = runtimes.flatMap((runtime) => runtime.channel.listChoices(toExtraOrder(order, runtime)));
  return [...new Set(choices)].toSorted().slice(0, CHOICES_MAX);
}

/** Lists the optional fields that were left out of an order. */
export function listIgnored({ extraJson, optionalExtra = [] }: Order): string[] {
  const kept = new Set(listExtraFields(extraJson).map(([field]) => field));
  return optionalExtra.filter((field) => !kept.has(field));
}

function findFault(faults: readonly ExtraFault[] = [], field: string): ExtraFault | undefined {
  return faults.find((fault) => fault.field === field);
}

/** The order for a channel, as far as its extra fields depend on it. */
function toExtraOrder({ kind, model, content, extraJson }: Order, { channel }: ChannelRuntime): ExtraOrder {
  return {
    kind,
    model: channel.settings.models[model] ?? model,
    content: content.map((item) =>
      isMedia(item) ? { media: item.media, role: resolveRole(item), url: '' } : { text: item.text },
    ),
    extraJson,
  };
}

function withoutExtra(order: Order, left: ReadonlySet<string>): Order {
  const kept = listExtraFields(order.extraJson).filter(([field]) => !left.has(field));
  return { ...order, extraJson: kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept)) };
}

function refuseField(
  field: string,
  facts: {
    readonly value: unknown;
    readonly expected: string | undefined;
    readonly model: string;
    /** False if another extra field of the order has left too few channels. */
    readonly isAlone: boolean;
  },
): Error {
  const { value, expected, model, isAlone } = facts;
  const path = `extra_json.${field.slice(0, SHOWN_CHARACTERS_MAX)}`;
  if (expected !== undefined) {
    const given = (JSON.stringify(value) ?? '').slice(0, SHOWN_CHARACTERS_MAX);
    return toRefusal({ reason: 'invalid_request', field: path, message: `must be ${expected}; it is ${given}` });
  }
  const message = isAlone
    ? `is an unknown field, which no generator of ${model} takes`
    : `is taken by no generator of ${model} together with the other fields of this request`;
  return toRefusal({ reason: 'unknown_field', field: path, message });
}

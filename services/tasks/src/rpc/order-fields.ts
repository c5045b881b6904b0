import { Problem } from '@reelgate/platform/problem';
import { OrderSchema } from '@reelgate/proto/tasks/v1/order';

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
    const { kind, reason, message, retryAfterMs, cause } = error;
    throw new Problem({ kind, reason, message, retryAfterMs, cause, field: contractPath(error.field) });
  }
}

/** Such as `order.content[0].media.url` for `content[0].image_url`. A field beside the order stays as it is. */
export function contractPath(field: string): string {
  if (!FIELDS.has(/^\w+/.exec(field)?.[0] ?? '')) return field;
  return `order.${OF_ITEM.reduce((path, [pattern, named]) => path.replace(pattern, named), field)}`;
}

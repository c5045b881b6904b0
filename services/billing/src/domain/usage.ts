import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { UsageGroup as WireGroup } from '@reelgate/proto/billing/v1/usage_service';
import type { ReportedUsage } from './hold.ts';
import type { Nanos } from './money.ts';
import type { PriceFacts } from './price.ts';
import { dropClass } from './price-class.ts';
import { areTokensKnown } from './price.ts';
import { TOKEN_PARTS } from './token-rates.ts';

/** The parts of the tokens, and the searches, that upstreams reported. */
export const PART_COUNTS = [...TOKEN_PARTS, 'searches'] as const;
export type PartCount = (typeof PART_COUNTS)[number];
/** An absent count is zero. */
export type PartCounts = Readonly<Partial<Record<PartCount, bigint>>>;

/** The number of requests, the sum of their charges, and the quantities that were charged. */
export const QUANTITIES = [
  'requests',
  'charged',
  'seconds',
  'inputTokens',
  'cachedInputTokens',
  'outputTokens',
  'images',
  'characters',
] as const;
type Quantity = (typeof QUANTITIES)[number];

/** The parts are not set if no upstream reported parts. */
export type Quantities = Readonly<Record<Quantity, bigint>> & { readonly parts?: PartCounts };

export type UsageGroup = EnumWord<typeof WireGroup>;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const NOTHING_USED = readQuantities(() => 0n);

/** Reads each quantity. */
export function readQuantities(read: (name: Quantity) => bigint): Quantities {
  const sum = {} as Record<Quantity, bigint>;
  for (const name of QUANTITIES) sum[name] = read(name);
  return sum;
}

/** The largest count of one request, so that the sum of an hour always fits 64 bits. */
export const COUNT_MAX = 1_000_000_000n;

/**
 * Computes the quantities of one request: the reported ones, or the frozen facts where the upstream did not report a
 * quantity. A request that is measured in tokens has no seconds.
 */
export function computeQuantities(
  charged: Nanos,
  facts: PriceFacts,
  usage: Partial<ReportedUsage> | undefined,
): Quantities {
  const reported = { inputTokens: clampCount(usage?.inputTokens), outputTokens: clampCount(usage?.outputTokens) };
  const isMeasured = areTokensKnown(reported);
  const tokens = isMeasured
    ? reported
    : { inputTokens: clampCount(facts.inputTokens), outputTokens: clampCount(facts.outputTokens) };
  const seconds = clampCount(usage?.seconds);
  return {
    requests: 1n,
    charged,
    ...tokens,
    cachedInputTokens: clampCount(usage?.cachedInputTokens),
    seconds: seconds > 0n || isMeasured ? seconds : clampCount(facts.seconds + facts.inputVideoSeconds),
    images: clampCount(usage?.images ?? facts.images),
    characters: clampCount(usage?.characters ?? facts.characters),
    ...keepParts((name) => clampCount(name === 'searches' ? usage?.searches : usage?.parts?.[name])),
  };
}

/** Returns the counts that are not zero, if any. */
export function keepParts(read: (name: PartCount) => bigint): Pick<Quantities, 'parts'> {
  let parts: Partial<Record<PartCount, bigint>> | undefined;
  for (const name of PART_COUNTS) {
    const count = read(name);
    if (count !== 0n) (parts ??= {})[name] = count;
  }
  return parts === undefined ? {} : { parts };
}

/** Most charges have no parts. */
function addParts({ parts: left }: Quantities, { parts: right }: Quantities, sign = 1n): Pick<Quantities, 'parts'> {
  if (right === undefined) return left === undefined ? {} : { parts: left };
  return keepParts((name) => (left?.[name] ?? 0n) + sign * (right[name] ?? 0n));
}

export function addQuantities(left: Quantities, right: Quantities): Quantities {
  return { ...readQuantities((name) => left[name] + right[name]), ...addParts(left, right) };
}

/** Takes a part off the sum that contains it. */
export function subtractQuantities(whole: Quantities, part: Quantities): Quantities {
  return { ...readQuantities((name) => whole[name] - part[name]), ...addParts(whole, part, -1n) };
}

const OPERATION = '__';

/**
 * The model of a price key: `Alpha-H3__regeneration` and `Alpha-H3` both belong to Alpha-H3. It is the longest known
 * model that the key begins with, or the text before the last two underscores.
 */
export function toModel(priceKey: string, known: ReadonlySet<string>): string {
  if (known.has(priceKey)) return priceKey;
  const withoutClass = dropClass(priceKey);
  if (withoutClass !== priceKey) return toModel(withoutClass, known);
  const first = priceKey.lastIndexOf(OPERATION);
  for (let end = first; end > 0; end = priceKey.lastIndexOf(OPERATION, end - 1)) {
    if (known.has(priceKey.slice(0, end))) return priceKey.slice(0, end);
  }
  return first > 0 ? priceKey.slice(0, first) : priceKey;
}

/** Reports whether the other name could be a price key of the model. */
export function canBePriceKey(model: string, other: string): boolean {
  return other.startsWith(model + OPERATION);
}

export function floorToHour(ms: number): number {
  return ms - (ms % HOUR_MS);
}

function clampCount(value: bigint | undefined): bigint {
  if (value === undefined || value < 0n) return 0n;
  return value > COUNT_MAX ? COUNT_MAX : value;
}

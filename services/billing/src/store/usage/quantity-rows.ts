import type { SqlInteger } from '@reelgate/platform/sql/sql';
import { computeQuantities } from '../../domain/usage.ts';
import type { Quantities } from '../../domain/usage.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { ReportedUsage } from '../../domain/hold.ts';
import { TOKEN_PARTS } from '../../domain/token-rates.ts';
import type { TokenParts } from '../../domain/token-rates.ts';

/** A charged hold or call: its frozen facts and the usage that its upstream reported. */
export type EndedRow = FactsRow & {
  token_id: string;
  label: string;
  charged_nanos: SqlInteger;
  ended_at: SqlInteger;
  used_seconds: SqlInteger | null;
  used_images: SqlInteger | null;
  used_input_tokens: SqlInteger | null;
  used_cached_input_tokens: SqlInteger | null;
  used_output_tokens: SqlInteger | null;
  used_characters: SqlInteger | null;
  used_parts: string | null;
};

export const ENDED_HOLD_COLUMNS = `token_id, price_key, label, charged_nanos, ended_at, seconds, input_video_seconds, images,
    input_tokens, output_tokens, characters, used_seconds, NULL AS used_images, used_input_tokens,
    NULL AS used_cached_input_tokens, used_output_tokens, NULL AS used_characters, NULL AS used_parts`;
export const ENDED_CALL_COLUMNS = `token_id, price_key, label, charged_nanos, ended_at, seconds, 0 AS input_video_seconds,
    images, input_tokens, output_tokens, characters, used_seconds, used_images, used_input_tokens, used_cached_input_tokens,
    used_output_tokens, used_characters, used_parts`;

export function toQuantities(row: EndedRow): Quantities {
  return computeQuantities(BigInt(row.charged_nanos), toPriceFacts(row), {
    seconds: toCount(row.used_seconds),
    images: toCount(row.used_images),
    inputTokens: toCount(row.used_input_tokens),
    cachedInputTokens: toCount(row.used_cached_input_tokens),
    outputTokens: toCount(row.used_output_tokens),
    characters: toCount(row.used_characters),
    ...parseParts(row.used_parts),
  });
}

function toCount(value: SqlInteger | null): bigint | undefined {
  return value === null ? undefined : BigInt(value);
}

/** The frozen facts of a hold or a call. A call has no resolution. */
export type FactsRow = {
  price_key: string;
  resolution?: string;
  seconds: SqlInteger;
  input_video_seconds?: SqlInteger;
  images: SqlInteger;
  input_tokens: SqlInteger;
  output_tokens: SqlInteger;
  characters: SqlInteger;
};

export function toPriceFacts(row: FactsRow): PriceFacts {
  return {
    priceKey: row.price_key,
    resolution: row.resolution ?? '',
    seconds: BigInt(row.seconds),
    inputVideoSeconds: BigInt(row.input_video_seconds ?? 0),
    images: BigInt(row.images),
    inputTokens: BigInt(row.input_tokens),
    outputTokens: BigInt(row.output_tokens),
    characters: BigInt(row.characters),
  };
}

/** The parts of the tokens of a call and its searches, as its upstream reported them. */
export interface ReportedParts {
  readonly parts: TokenParts;
  readonly searches: bigint;
}

/** Formats the parts and searches that are not zero as JSON. Returns null if all are zero. */
export function formatParts({ parts, searches = 0n }: ReportedUsage): string | null {
  const counts: Record<string, string> = searches > 0n ? { searches: String(searches) } : {};
  for (const name of TOKEN_PARTS) {
    const count = parts?.[name] ?? 0n;
    if (count > 0n) counts[name] = String(count);
  }
  return Object.keys(counts).length === 0 ? null : JSON.stringify(counts);
}

export function parseParts(text: string | null): ReportedParts {
  const counts = JSON.parse(text ?? '{}') as Readonly<Record<string, string>>;
  const read = (name: string): bigint => BigInt(counts[name] ?? 0);
  return {
    parts: Object.fromEntries(TOKEN_PARTS.filter((name) => name in counts).map((name) => [name, read(name)])),
    searches: read('searches'),
  };
}

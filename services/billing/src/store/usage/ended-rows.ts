import type { SqlInteger } from '@reelgate/platform/sql/sql';
import { computeQuantities } from '../../domain/usage.ts';
import type { Quantities } from '../../domain/usage.ts';
import { toPriceFacts } from '../prices/facts-rows.ts';
import type { FactsRow } from '../prices/facts-rows.ts';
import { parseParts } from './parts-text.ts';

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

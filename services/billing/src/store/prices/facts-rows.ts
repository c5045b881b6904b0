import type { SqlInteger } from '@reelgate/platform/sql/sql';
import type { PriceFacts } from '../../domain/price.ts';

/** The frozen facts of a hold or a call. A call has no resolution, and no table has the cached input tokens. */
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
    cachedInputTokens: 0n,
    outputTokens: BigInt(row.output_tokens),
    characters: BigInt(row.characters),
  };
}

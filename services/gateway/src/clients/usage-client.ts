import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { Client } from '@reelgate/platform/rpc/service';
import { UsageGroup, UsageSchema } from '@reelgate/proto/billing/v1/usage_service';
import type { Usage, UsageService } from '@reelgate/proto/billing/v1/usage_service';

const DEADLINE_MS = 15_000;

export type UsageGrouping = EnumWord<typeof UsageGroup>;
const GROUPS = deriveValues(UsageGroup);

export interface UsageQuestion {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly groupBy: UsageGrouping;
  /** Splits each day once more. */
  readonly splitBy?: Exclude<UsageGrouping, 'day'> | undefined;
}

export interface UsageSum {
  /** Empty in a total, and for what has no label. */
  readonly key: string;
  readonly name: string;
  /** The model, the token or the label within the day; empty: the days are not split, or what has no label. */
  readonly splitKey: string;
  readonly splitName: string;
  readonly amountNanos: bigint;
  /** Under the names that a client sees. */
  readonly counts: Readonly<Record<UsageCount, number>>;
  readonly parts: ChargedParts;
}

export type ChargedPart = (typeof CHARGED_PARTS)[number];
/** The parts of the tokens and the searches, under the names that a client sees; zero is left out. */
export type ChargedParts = { readonly [name in ChargedPart]?: number };

export const CHARGED_PARTS = [
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'audio_input_tokens',
  'cached_audio_tokens',
  'image_input_tokens',
  'cached_image_tokens',
  'reasoning_tokens',
  'audio_output_tokens',
  'image_output_tokens',
  'searches',
] as const;

export interface Statement {
  readonly groups: readonly UsageSum[];
  readonly total: UsageSum;
  readonly currency: string;
  readonly truncated: boolean;
}

export type ReadUsage = (question: UsageQuestion, requestId: string) => Promise<Statement>;
export type UsageCount = (typeof USAGE_COUNTS)[number];

export const USAGE_COUNTS = [
  'requests',
  'seconds',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'images',
  'characters',
] as const;

/** Reads the usage of an account from billing. */
export function billingUsage(usage: Client<typeof UsageService>): ReadUsage {
  return async ({ accountId, from, to, groupBy, splitBy }, requestId) => {
    const { groups, total, currency, truncated } = await usage.getUsage(
      {
        accountId,
        from: timestampFromMs(from),
        to: timestampFromMs(to),
        groupBy: GROUPS[groupBy],
        splitBy: splitBy === undefined ? UsageGroup.UNSPECIFIED : GROUPS[splitBy],
      },
      { timeoutMs: DEADLINE_MS, requestId },
    );
    return { groups: groups.map(fromWireUsage), total: fromWireUsage(total), currency, truncated };
  };
}

/** Sums under the names that a client sees. */
export function fromWireUsage(usage: Usage = create(UsageSchema)): UsageSum {
  const { key, name, splitKey, splitName, amountNanos } = usage;
  return {
    key,
    name,
    splitKey,
    splitName,
    amountNanos,
    counts: {
      requests: Number(usage.requests),
      seconds: Number(usage.seconds),
      input_tokens: Number(usage.inputTokens),
      cached_input_tokens: Number(usage.cachedInputTokens),
      output_tokens: Number(usage.outputTokens),
      images: Number(usage.images),
      characters: Number(usage.characters),
    },
    parts: fromWireParts(usage),
  };
}

export function fromWireParts({ parts, searches }: Pick<Usage, 'parts' | 'searches'>): ChargedParts {
  const counts: Readonly<Record<ChargedPart, bigint | undefined>> = {
    cache_write_tokens: parts?.cacheWrite,
    cache_write_1h_tokens: parts?.cacheWrite1h,
    audio_input_tokens: parts?.audioInput,
    cached_audio_tokens: parts?.cachedAudio,
    image_input_tokens: parts?.imageInput,
    cached_image_tokens: parts?.cachedImage,
    reasoning_tokens: parts?.reasoning,
    audio_output_tokens: parts?.audioOutput,
    image_output_tokens: parts?.imageOutput,
    searches,
  };
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count = 0n]) => (count === 0n ? [] : [[name, Number(count)]])),
  );
}

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { Client } from '@reelgate/platform/rpc/service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { UsageGroup, UsageSchema } from '@reelgate/proto/billing/v1/usage_service';
import type {
  ChargedItem,
  GetUsageResponse,
  ListChargedItemsResponse,
  Usage,
  UsageService,
} from '@reelgate/proto/billing/v1/usage_service';
import type { Period } from '../domain/timestamp.ts';

const DEADLINE_MS = 15_000;

export type UsageGrouping = EnumWord<typeof UsageGroup>;
export const USAGE_GROUPS = deriveValues(UsageGroup);

interface AccountPeriod extends Period {
  readonly accountId: string;
}

export interface UsageQuestion extends AccountPeriod {
  readonly groupBy: UsageGrouping;
  /** Splits each day once more. */
  readonly splitBy?: Exclude<UsageGrouping, 'day'> | undefined;
}

export interface ItemQuestion extends AccountPeriod {
  readonly limit: number;
  /** `continueAfter` of the page before, empty to start at the begin of the period. */
  readonly after: string;
}

export interface Statement extends Omit<GetUsageResponse, 'total'> {
  readonly total: Usage;
}

export type ReadUsage = (question: UsageQuestion, requestId: string) => Promise<Statement>;
export type ReadChargedItems = (question: ItemQuestion, requestId: string) => Promise<ListChargedItemsResponse>;

/** Reads the usage of an account from billing. */
export function billingUsage(rpc: Client<typeof UsageService>): ReadUsage {
  return async ({ accountId, from, to, groupBy, splitBy }, requestId) => {
    const { total = create(UsageSchema), ...statement } = await rpc.getUsage(
      {
        accountId,
        from: timestampFromMs(from),
        to: timestampFromMs(to),
        groupBy: USAGE_GROUPS[groupBy],
        splitBy: splitBy === undefined ? UsageGroup.UNSPECIFIED : USAGE_GROUPS[splitBy],
      },
      { timeoutMs: DEADLINE_MS, requestId },
    );
    return { ...statement, total };
  };
}

/** Reads the charges of an account one by one from billing. */
export function billingChargedItems(rpc: Client<typeof UsageService>): ReadChargedItems {
  return ({ from, to, ...question }, requestId) =>
    rpc.listChargedItems(
      { ...question, from: timestampFromMs(from), to: timestampFromMs(to) },
      { timeoutMs: DEADLINE_MS, requestId },
    );
}

const SOURCES = {
  [Basis.USAGE]: 'usage',
  [Basis.ESTIMATE]: 'estimate',
  [Basis.HOLD]: 'hold',
} as const satisfies Partial<Record<Basis, string>>;

/** Names the source of a charge, as a client reads it. */
export function nameSource({ basis }: ChargedItem): (typeof SOURCES)[keyof typeof SOURCES] | 'unknown' {
  return basis in SOURCES ? SOURCES[basis as keyof typeof SOURCES] : 'unknown';
}

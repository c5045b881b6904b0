import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { Client } from '@reelgate/platform/rpc/service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { fromWireParts, fromWireUsage } from './usage-client.ts';
import type { ChargedParts, UsageSum } from './usage-client.ts';

const DEADLINE_MS = 15_000;
const BASES = {
  [Basis.USAGE]: 'usage',
  [Basis.ESTIMATE]: 'estimate',
  [Basis.HOLD]: 'hold',
} as const satisfies Partial<Record<Basis, string>>;

export interface ItemQuestion {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly limit: number;
  /** `continueAfter` of the page before, empty to start at the begin of the period. */
  readonly after: string;
}

/** A settled task, job or call. */
export interface ChargedItem {
  readonly id: string;
  readonly settledAt: number;
  readonly model: string;
  readonly tokenId: string;
  readonly tokenName: string;
  /** Empty if it has no label. */
  readonly label: string;
  /** The source of the charge. */
  readonly basis: 'usage' | 'estimate' | 'hold' | 'unknown';
  readonly amountNanos: bigint;
  readonly counts: UsageSum['counts'];
  readonly parts: ChargedParts;
}

export interface ItemPage {
  readonly items: readonly ChargedItem[];
  readonly currency: string;
  /** Empty if there is no further page. */
  readonly continueAfter: string;
}

export type ReadChargedItems = (question: ItemQuestion, requestId: string) => Promise<ItemPage>;

/** Reads the charges of an account one by one from billing. */
export function billingChargedItems(usage: Client<typeof UsageService>): ReadChargedItems {
  return async ({ from, to, ...question }, requestId) => {
    const { items, currency, continueAfter } = await usage.listChargedItems(
      { ...question, from: timestampFromMs(from), to: timestampFromMs(to) },
      { timeoutMs: DEADLINE_MS, requestId },
    );
    return {
      items: items.map((item) => {
        const { key, amountNanos, counts } = fromWireUsage(item.usage);
        return {
          id: item.id,
          settledAt: timestampMs(requireField(item.settledAt, 'settled_at')),
          model: key,
          tokenId: item.tokenId,
          tokenName: item.tokenName,
          label: item.label,
          basis: item.basis in BASES ? BASES[item.basis as keyof typeof BASES] : 'unknown',
          amountNanos,
          counts,
          parts: fromWireParts(item),
        };
      }),
      currency,
      continueAfter,
    };
  };
}

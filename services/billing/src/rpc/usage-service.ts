import type { WholeMessage } from '@reelgate/platform/rpc/service';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { UsageGroup as WireGroup, UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { UsageSchema } from '@reelgate/proto/billing/v1/usage_service';
import type { Quantities } from '../domain/usage.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { getUsage } from '../operations/usage/get-usage.ts';
import { listChargedItems } from '../operations/usage/list-charged-items.ts';
import type { UsageLine } from '../operations/usage/get-usage.ts';
import { BASES } from './billing-mapping.ts';

const GROUPS = deriveWords(WireGroup);

const UNGROUPED = { key: '', name: '', splitKey: '', splitName: '' } as const;

/** Decodes, runs the operation, encodes. */
export function usageService(deps: BillingDeps): Binding {
  return bind(UsageService, {
    getUsage: async ({ accountId, from, to, groupBy, splitBy }) => {
      const { lines, total, currency, isTruncated } = await getUsage(deps, {
        accountId,
        from: timestampMs(requireField(from, 'from')),
        to: timestampMs(requireField(to, 'to')),
        groupBy: requireField(GROUPS[groupBy], 'group_by'),
        splitBy: GROUPS[splitBy],
      });
      return {
        groups: lines.map(({ sum, ...group }) => toWireUsage(sum, group)),
        total: toWireUsage(total),
        currency,
        truncated: isTruncated,
      };
    },
    listChargedItems: async ({ accountId, from, to, limit, after }) => {
      const page = await listChargedItems(deps, {
        accountId,
        from: timestampMs(requireField(from, 'from')),
        to: timestampMs(requireField(to, 'to')),
        limit,
        after,
      });
      return {
        items: page.items.map(({ id, at, tokenId, tokenName, basis, model, label, sum, parts, searches }) => ({
          id,
          settledAt: timestampFromMs(at),
          tokenId,
          tokenName,
          label,
          basis: BASES[basis],
          usage: toWireUsage(sum, { ...UNGROUPED, key: model }),
          parts,
          searches,
        })),
        currency: page.currency,
        continueAfter: page.continueAfter,
      };
    },
  });
}

function toWireUsage(
  { charged, parts: { searches = 0n, ...parts } = {}, ...sum }: Quantities,
  group: Omit<UsageLine, 'sum'> = UNGROUPED,
): WholeMessage<typeof UsageSchema> {
  return { ...group, ...sum, amountNanos: charged, parts, searches };
}

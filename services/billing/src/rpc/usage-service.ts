import { timestampMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { UsageGroup, UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { BillingDeps } from '../operations/deps.ts';
import { getUsage } from '../operations/usage/get-usage.ts';
import { listChargedItems } from '../operations/usage/list-charged-items.ts';

const GROUPS = deriveWords(UsageGroup);

export function usageService(deps: BillingDeps): Binding {
  return bind(UsageService, {
    getUsage: async ({ accountId, from, to, groupBy, splitBy }) =>
      getUsage(deps, {
        accountId,
        from: timestampMs(requireField(from, 'from')),
        to: timestampMs(requireField(to, 'to')),
        groupBy: requireField(GROUPS[groupBy], 'group_by'),
        splitBy: GROUPS[splitBy],
      }),
    listChargedItems: async ({ accountId, from, to, limit, after }) =>
      listChargedItems(deps, {
        accountId,
        from: timestampMs(requireField(from, 'from')),
        to: timestampMs(requireField(to, 'to')),
        limit,
        after,
      }),
  });
}

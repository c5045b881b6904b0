import type { MessageInitShape } from '@bufbuild/protobuf';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { UsageGroup as WireGroup, UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { UsageSchema } from '@reelgate/proto/billing/v1/usage_service';
import type { Quantities, UsageGroup } from '../domain/usage.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { getUsage } from '../operations/usage/get-usage.ts';
import { badField } from '../billing-refusals.ts';
import { fromWireTime, requireText } from './billing-mapping.ts';

const GROUPS: Readonly<Record<WireGroup, UsageGroup | undefined>> = {
  [WireGroup.UNSPECIFIED]: undefined,
  [WireGroup.MODEL]: 'model',
  [WireGroup.DAY]: 'day',
  [WireGroup.TOKEN]: 'token',
};

/** Decodes, runs the operation, encodes. */
export function usageService(deps: BillingDeps): Binding {
  return bind(UsageService, {
    getUsage: async ({ accountId, from, to, groupBy }) => {
      const group = GROUPS[groupBy];
      const [begin, end] = [fromWireTime(from), fromWireTime(to)];
      if (begin === undefined || end === undefined) throw badField(begin === undefined ? 'from' : 'to', 'is required');
      if (group === undefined) throw badField('group_by', 'must be model, day or token');
      const { lines, total, currency, isTruncated } = await getUsage(deps, {
        accountId: requireText(accountId, 'account_id'),
        from: begin,
        to: end,
        groupBy: group,
      });
      return {
        groups: lines.map(({ key, name, sum }) => toWireUsage(sum, { key, name })),
        total: toWireUsage(total),
        currency,
        truncated: isTruncated,
      };
    },
  });
}

function toWireUsage(
  { charged, ...sum }: Quantities,
  label: { readonly key?: string; readonly name?: string } = {},
): MessageInitShape<typeof UsageSchema> {
  return { ...label, ...sum, amountNanos: charged };
}

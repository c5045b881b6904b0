import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { requireField } from '@reelgate/platform/rpc/required-field';
import type { BillingDeps } from '../operations/deps.ts';
import { getMoney } from '../operations/money/get-money.ts';
import { diagnoseLedger, verifyLedger } from '../operations/verify-ledger.ts';
import { toWireMoney } from './money-mapping.ts';

type LedgerMethods = Pick<Implementation<typeof AccountService>, 'verifyLedger' | 'rebuildBalances' | 'getMoney'>;

/** Decodes, runs the operation, encodes. */
export function ledgerMethods(deps: BillingDeps): LedgerMethods {
  return {
    rebuildBalances: async (_request, { caller }) => {
      const { accountIds, tokenIds } = await deps.audit.rebuild();
      deps.log.warn({ actor: caller.name, accountIds, tokenIds }, 'the cached sums were rebuilt from the ledger');
      return { accountIds: [...accountIds], tokenIds: [...tokenIds] };
    },
    getMoney: async ({ from, to }) =>
      toWireMoney(
        await getMoney(deps, {
          from: timestampMs(requireField(from, 'from')),
          to: timestampMs(requireField(to, 'to')),
        }),
      ),
    verifyLedger: async ({ actor, diagnosis }, { caller, signal }) => {
      const { isTooLarge, entries, sums, faults, openHoldTaskIds, calls } = diagnosis
        ? await diagnoseLedger(deps, signal)
        : await verifyLedger(deps, actor || caller.name, signal);
      return {
        ok: faults.length === 0 && !isTooLarge,
        tooLarge: isTooLarge,
        entries,
        sums: Object.fromEntries(sums),
        faults: [...faults],
        openHoldTaskIds: [...openHoldTaskIds],
        openCalls: calls.open,
        overdueCalls: calls.overdue,
      };
    },
  };
}

import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { GetMoneyResponseSchema } from '@reelgate/proto/billing/v1/account_service';
import type { GetMoneyResponse } from '@reelgate/proto/billing/v1/account_service';
import { HeldMoneySchema, MarginSchema, SettledModelSchema } from '@reelgate/proto/billing/v1/money';
import type { Margin } from '@reelgate/proto/billing/v1/money';
import { clampToInt64 } from '../../domain/money.ts';
import { DAY_MS, HOUR_MS, floorToHour } from '../../domain/usage.ts';
import { badField } from '../../billing-refusals.ts';
import type { MoneyCount, MoneyPlace } from '../../store/money/money-store.ts';
import type { BillingDeps } from '../deps.ts';

const DAYS_MAX = 31;

/** Reads the money of all accounts now, and the settlements in the hours of a period. */
export async function getMoney(
  { money, ledgerChecks }: BillingDeps,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<GetMoneyResponse> {
  if (from < 0) throw badField('from', 'must be a time from 1970 on');
  if (from >= to) throw badField('to', 'must be later than from');
  if (to - from > DAYS_MAX * DAY_MS) throw badField('to', `must be at most ${DAYS_MAX} days after from`);
  const span = { from: floorToHour(from), to: floorToHour(to + HOUR_MS - 1) };
  const [held, settled, counted, lastCheck] = await Promise.all([
    money.accounts(),
    money.settled(span),
    money.counted(span),
    ledgerChecks.last(),
  ]);
  const sumField = (name: 'overruns' | 'overrun' | 'lapses'): bigint =>
    counted.reduce((sum, count) => sum + count[name], 0n);
  return toMessage(GetMoneyResponseSchema, {
    held: held.map(({ currency, balance, held: heldNow, accounts }) =>
      toMessage(HeldMoneySchema, {
        currency,
        balanceNanos: clampToInt64(balance),
        heldNanos: clampToInt64(heldNow),
        accounts,
      }),
    ),
    settled: settled.map(({ charged, ...place }) =>
      toMessage(SettledModelSchema, { ...place, chargedNanos: clampToInt64(charged) }),
    ),
    margins: counted.filter(({ requests }) => requests > 0n).map(toMargin),
    overruns: sumField('overruns'),
    overrunNanos: clampToInt64(sumField('overrun')),
    lapses: sumField('lapses'),
    lastCheck,
  });
}

/** The margin of work that has a known cost at its upstream. */
function toMargin({ channel, priceKey, currency, ...counted }: MoneyPlace & MoneyCount): Margin {
  const { requests, charged, cost, reportedRequests, reportedCost } = counted;
  return toMessage(MarginSchema, {
    ...{ channel, priceKey, currency, requests, reportedRequests },
    chargedNanos: clampToInt64(charged),
    costNanos: clampToInt64(cost),
    reportedCostNanos: clampToInt64(reportedCost),
  });
}

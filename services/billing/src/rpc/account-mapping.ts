import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { WholeMessage } from '@reelgate/platform/rpc/service';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ActSchema } from '@reelgate/proto/access/v1/act';
import { AccountOrder } from '@reelgate/proto/billing/v1/account_service';
import type { AccountSchema, GetMoneyResponseSchema } from '@reelgate/proto/billing/v1/account_service';
import type { CreditSchema } from '@reelgate/proto/billing/v1/money';
import type { Account } from '../domain/account.ts';
import type { Money } from '../operations/money/get-money.ts';
import type { BookedCredit } from '../store/accounts/account-store.ts';
import type { StoredAct } from '../store/acts/act-store.ts';

const INT64_MAX = 2n ** 63n - 1n;

export const ORDERS = deriveWords(AccountOrder, 'id');

const LIST_DEFAULT = 50;

/** The size of a page. The wire cannot tell zero from absent. */
export function readLimit(limit: number): number {
  return limit === 0 ? LIST_DEFAULT : limit;
}

export function toWireAccount(account: Account): WholeMessage<typeof AccountSchema> {
  const { id, currency, balance, held, createdAt } = account;
  return { id, currency, balanceNanos: balance, heldNanos: held, createdAt: timestampFromMs(createdAt) };
}

export function toWireCredit({ at, amount, ...credit }: BookedCredit): WholeMessage<typeof CreditSchema> {
  return { ...credit, at: timestampFromMs(at), amountNanos: amount };
}

export function toWireAct({ at, ...act }: StoredAct): WholeMessage<typeof ActSchema> {
  return { ...act, at: timestampFromMs(at) };
}

export function toWireMoney(money: Money): WholeMessage<typeof GetMoneyResponseSchema> {
  const { held, settled, margins, overruns, overrun, lapses, lastCheck } = money;
  return {
    held: held.map(({ balance, held: nanos, ...of }) => ({
      ...of,
      balanceNanos: clampToInt64(balance),
      heldNanos: clampToInt64(nanos),
    })),
    settled: settled.map(({ charged, ...of }) => ({ ...of, chargedNanos: clampToInt64(charged) })),
    margins: margins.map(({ channel, priceKey, currency, requests, charged, cost, ...reported }) => ({
      ...{ channel, priceKey, currency, requests, reportedRequests: reported.reportedRequests },
      chargedNanos: clampToInt64(charged),
      costNanos: clampToInt64(cost),
      reportedCostNanos: clampToInt64(reported.reportedCost),
    })),
    overruns,
    overrunNanos: clampToInt64(overrun),
    lapses,
    ...(lastCheck === undefined ? {} : { lastCheck: toWireCheck(lastCheck) }),
  };
}

function toWireCheck({ at, tookMs, isOk, entries, faults, actor }: NonNullable<Money['lastCheck']>) {
  return { at: timestampFromMs(at), tookMs: BigInt(tookMs), ok: isOk, entries, faults: [...faults], actor };
}

/** A sum over all accounts may leave 64 bits. */
export function clampToInt64(sum: bigint): bigint {
  if (sum > INT64_MAX) return INT64_MAX;
  return sum < -INT64_MAX ? -INT64_MAX : sum;
}

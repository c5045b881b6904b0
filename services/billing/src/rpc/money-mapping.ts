import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { GetMoneyResponseSchema } from '@reelgate/proto/billing/v1/account_service';
import type { Money } from '../operations/money/get-money.ts';

const INT64_MAX = 2n ** 63n - 1n;

export function toWireMoney(money: Money): MessageInitShape<typeof GetMoneyResponseSchema> {
  const { held, settled, margins, overruns, overrun, lapses, lastCheck } = money;
  return {
    held: held.map(({ balance, held: nanos, ...of }) => ({
      ...of,
      balanceNanos: clampToInt64(balance),
      heldNanos: clampToInt64(nanos),
    })),
    settled: settled.map(({ charged, ...of }) => ({ ...of, chargedNanos: clampToInt64(charged) })),
    margins: margins.map(({ channel, priceKey, currency, requests, charged, cost }) => ({
      ...{ channel, priceKey, currency, requests },
      chargedNanos: clampToInt64(charged),
      costNanos: clampToInt64(cost),
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
function clampToInt64(sum: bigint): bigint {
  if (sum > INT64_MAX) return INT64_MAX;
  return sum < -INT64_MAX ? -INT64_MAX : sum;
}

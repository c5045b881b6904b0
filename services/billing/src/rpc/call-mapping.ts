import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { CallEnd as WireCallEnd, CallOrder, CallUsage } from '@reelgate/proto/billing/v1/call_service';
import type { CallEnd } from '../domain/call.ts';
import type { ReportedUsage } from '../domain/hold.ts';
import type { CallRequest } from '../operations/calls/place-calls.ts';
import { badField } from '../billing-refusals.ts';
import { fromWireFacts, fromWireTime, requireText } from './billing-mapping.ts';

const PRICE_KEYS_MAX = 8;
/** More than one call can use. A larger count of an upstream is cut to this. */
const COUNT_MAX = 10n ** 15n;

export function fromWireOrder({ callId, accountId, tokenId, priceKeys, facts, lapsesAt }: CallOrder): CallRequest {
  const time = fromWireTime(lapsesAt);
  if (time === undefined) throw badField('lapses_at', 'is required');
  if (priceKeys.length === 0 || priceKeys.length > PRICE_KEYS_MAX)
    throw badField('price_keys', `must have 1 to ${String(PRICE_KEYS_MAX)} keys`);
  return {
    callId: requireText(callId, 'call_id'),
    accountId: requireText(accountId, 'account_id'),
    tokenId: requireText(tokenId, 'token_id'),
    priceKeys: priceKeys.map((key) => requireText(key, 'price_keys')),
    facts: fromWireFacts(facts),
    lapsesAt: time,
  };
}

export function fromWireEnd({ callId, basis, usage }: WireCallEnd): readonly [string, CallEnd] {
  const id = requireText(callId, 'ends.call_id');
  if (basis === Basis.HOLD) return [id, { basis: 'hold' }];
  if (basis === Basis.RELEASED) return [id, { basis: 'released' }];
  if (basis !== Basis.USAGE && basis !== Basis.ESTIMATE)
    throw badField('ends.basis', 'must be usage, estimate, hold or released');
  return [id, { basis: basis === Basis.USAGE ? 'usage' : 'estimate', usage: fromWireUsage(usage) }];
}

function fromWireUsage(usage: CallUsage | undefined): ReportedUsage {
  return {
    seconds: bounded(usage?.seconds),
    inputTokens: bounded(usage?.inputTokens),
    outputTokens: bounded(usage?.outputTokens),
    cachedInputTokens: bounded(usage?.cachedInputTokens),
    images: bounded(usage?.images),
    characters: bounded(usage?.characters),
  };
}

/** A negative count is ignored. */
function bounded(count: bigint | undefined): bigint | undefined {
  if (count === undefined || count < 0n) return undefined;
  return count > COUNT_MAX ? COUNT_MAX : count;
}

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { requiredField } from '@reelgate/platform/rpc/required-field';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { CallEnd as WireCallEnd, CallOrder, CallUsage } from '@reelgate/proto/billing/v1/call_service';
import type { CallEnd } from '../domain/call.ts';
import type { ReportedUsage } from '../domain/hold.ts';
import type { CallRequest } from '../operations/calls/place-calls.ts';
import { fromWireFacts } from './billing-mapping.ts';

/** More than one call can use. A larger count of an upstream is cut to this. */
const COUNT_MAX = 10n ** 15n;

export function fromWireOrder({ callId, accountId, tokenId, priceKeys, facts, lapsesAt }: CallOrder): CallRequest {
  return {
    callId,
    accountId,
    tokenId,
    priceKeys,
    facts: fromWireFacts(facts),
    lapsesAt: timestampMs(requiredField(lapsesAt, 'lapses_at')),
  };
}

export function fromWireEnd({ callId, basis, usage, channel: name }: WireCallEnd): readonly [string, CallEnd] {
  const channel = name || undefined;
  if (basis === Basis.HOLD) return [callId, { basis: 'hold', channel }];
  if (basis === Basis.RELEASED) return [callId, { basis: 'released' }];
  return [callId, { basis: basis === Basis.USAGE ? 'usage' : 'estimate', usage: fromWireUsage(usage), channel }];
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

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { requireField } from '@reelgate/platform/rpc/rules';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { CallEnd as WireCallEnd, CallOrder, CallUsage } from '@reelgate/proto/billing/v1/call_service';
import type { TokenParts as WireParts } from '@reelgate/proto/billing/v1/price';
import type { CallEnd } from '../domain/call.ts';
import type { ReportedUsage } from '../domain/hold.ts';
import type { CallRequest } from '../operations/calls/place-calls.ts';
import { TOKEN_PARTS } from '../domain/token-rates.ts';
import type { TokenParts } from '../domain/token-rates.ts';
import { fromWireFacts } from './billing-mapping.ts';

/** More than one call can use. A larger count of an upstream is cut to this. */
const COUNT_MAX = 10n ** 15n;

export function fromWireOrder({
  callId,
  accountId,
  tokenId,
  priceKeys,
  facts,
  lapsesAt,
  label,
}: CallOrder): CallRequest {
  return {
    callId,
    accountId,
    tokenId,
    priceKeys,
    facts: fromWireFacts(facts),
    lapsesAt: timestampMs(requireField(lapsesAt, 'lapses_at')),
    label: label || undefined,
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
    seconds: readCount(usage?.seconds),
    inputTokens: readCount(usage?.inputTokens),
    outputTokens: readCount(usage?.outputTokens),
    cachedInputTokens: readCount(usage?.cachedInputTokens),
    images: readCount(usage?.images),
    characters: readCount(usage?.characters),
    parts: fromWireParts(usage?.parts),
    searches: readCount(usage?.searches),
  };
}

function fromWireParts(parts: WireParts | undefined): TokenParts | undefined {
  return parts && Object.fromEntries(TOKEN_PARTS.map((name) => [name, readCount(parts[name]) ?? 0n]));
}

/** A negative count is ignored. */
function readCount(count: bigint | undefined): bigint | undefined {
  if (count === undefined || count < 0n) return undefined;
  return count > COUNT_MAX ? COUNT_MAX : count;
}

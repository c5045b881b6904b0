import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { WholeMessage } from '@reelgate/platform/rpc/service';
import { MarginBucket as WireBucket, MarginSplit as WireSplit } from '@reelgate/proto/billing/v1/account_service';
import type { GetMarginsRequest, GetMarginsResponseSchema } from '@reelgate/proto/billing/v1/account_service';
import type { MarginSumSchema } from '@reelgate/proto/billing/v1/money';
import type { MarginGroup } from '../domain/margin-groups.ts';
import type { MarginCount } from '../domain/margin.ts';
import type { MarginsQuery } from '../operations/money/get-margins.ts';
import { clampToInt64 } from './account-mapping.ts';

const GROUPS_DEFAULT = 20;

const SPLITS = deriveWords(WireSplit);
const BUCKETS = deriveWords(WireBucket, 'day');

export function fromWireMarginsRequest(request: GetMarginsRequest): MarginsQuery {
  const { from, to, splitBy, bucket, key, limit } = request;
  return {
    from: timestampMs(requireField(from, 'from')),
    to: timestampMs(requireField(to, 'to')),
    split: requireField(SPLITS[splitBy], 'split_by'),
    bucket: BUCKETS[bucket],
    key: key || undefined,
    limit: limit || GROUPS_DEFAULT,
  };
}

export function toWireMargins(groups: readonly MarginGroup[]): WholeMessage<typeof GetMarginsResponseSchema> {
  return {
    groups: groups.map(({ key, isRest, currency, total, buckets }) => ({
      ...{ key, rest: isRest, currency, total: toWireSum(total) },
      parts: buckets.map(([at, sum]) => ({ beginsAt: timestampFromMs(at), sum: toWireSum(sum) })),
    })),
  };
}

function toWireSum(sum: MarginCount): WholeMessage<typeof MarginSumSchema> {
  return {
    requests: sum.requests,
    chargedNanos: clampToInt64(sum.charged),
    costNanos: clampToInt64(sum.cost),
    reportedRequests: sum.reportedRequests,
    reportedChargedNanos: clampToInt64(sum.reportedCharged),
    reportedCostNanos: clampToInt64(sum.reportedCost),
    uncostedRequests: sum.uncostedRequests,
    uncostedChargedNanos: clampToInt64(sum.uncostedCharged),
  };
}

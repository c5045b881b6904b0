import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { MarginBucket, MarginSplit } from '@reelgate/proto/billing/v1/account_service';
import type { MarginGroup as WireGroup, MarginSum as WireSum } from '@reelgate/proto/billing/v1/money';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { requireValue, toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** By account every account is read, in parts. */
const DEADLINE_MS = 25_000;

const SPLITS = deriveValues(MarginSplit);
const BUCKETS = deriveValues(MarginBucket);

export interface MarginsQuestion {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly split: keyof typeof SPLITS;
  readonly bucket: keyof typeof BUCKETS;
  /** Only this group; undefined: all. */
  readonly key: string | undefined;
  /** The most groups of a currency that are named. */
  readonly limit: number;
}

/** Charges and costs in billionths, with what is measured, estimated and unknown told apart. */
export interface MarginSum {
  readonly requests: number;
  readonly chargedNanos: bigint;
  readonly costNanos: bigint;
  /** The part whose cost the upstream reported; the rest is estimated. */
  readonly reportedRequests: number;
  readonly reportedChargedNanos: bigint;
  readonly reportedCostNanos: bigint;
  /** Charged work without a known cost. */
  readonly uncostedRequests: number;
  readonly uncostedChargedNanos: bigint;
}

export interface MarginGroup {
  readonly key: string;
  readonly isRest: boolean;
  readonly currency: string;
  readonly total: MarginSum;
  /** By the begin of the part; a part with nothing is left out. */
  readonly parts: ReadonlyMap<number, MarginSum>;
}

export type ReadMargins = (question: MarginsQuestion, call: Caller) => Promise<readonly MarginGroup[]>;

export function marginsReader({ accounts: rpc }: OperatorClients): ReadMargins {
  return async ({ from, to, split, bucket, key = '', limit }, caller) => {
    const { groups } = await rpc.getMargins(
      {
        ...{ from: timestampFromMs(from), to: timestampFromMs(to) },
        ...{ splitBy: SPLITS[split], bucket: BUCKETS[bucket], key, limit },
      },
      withDeadline(caller, DEADLINE_MS),
    );
    return groups.map(fromWireGroup);
  };
}

function fromWireGroup({ key, rest, currency, total, parts }: WireGroup): MarginGroup {
  return {
    key,
    isRest: rest,
    currency,
    total: fromWireSum(requireValue(total)),
    parts: new Map(parts.map(({ beginsAt, sum }) => [toMs(beginsAt) ?? 0, fromWireSum(requireValue(sum))])),
  } satisfies MessageMapping<WireGroup, 'rest'>;
}

function fromWireSum({ requests, reportedRequests, uncostedRequests, ...amounts }: WireSum): MarginSum {
  return {
    chargedNanos: amounts.chargedNanos,
    costNanos: amounts.costNanos,
    reportedChargedNanos: amounts.reportedChargedNanos,
    reportedCostNanos: amounts.reportedCostNanos,
    uncostedChargedNanos: amounts.uncostedChargedNanos,
    requests: Number(requests),
    reportedRequests: Number(reportedRequests),
    uncostedRequests: Number(uncostedRequests),
  } satisfies MessageMapping<WireSum>;
}

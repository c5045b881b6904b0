import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import type { TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';

const NANOS_PER_MICRO = 1000n;

/** The cost of a task at its upstream. */
export interface UpstreamCost {
  readonly nanos: bigint;
  /** ISO 4217. */
  readonly currency: string;
  readonly source: 'reported' | 'estimated';
}

/** Words for the source of a cost. */
export const COST_SOURCES: Readonly<Record<UpstreamCost['source'], string>> = {
  reported: 'reported by the upstream',
  estimated: 'estimated by the upstream price',
};

/** Reads the cost of a task at its upstream: the reported one, or else the estimate; undefined if neither is known. */
export function readUpstreamCost(
  { upstreamCostMicroUsd: reported }: TaskRecord,
  money: GetHoldResponse | undefined,
): UpstreamCost | undefined {
  if (reported !== undefined) return { nanos: reported * NANOS_PER_MICRO, currency: 'USD', source: 'reported' };
  const { hold, upstreamCost } = money ?? {};
  if (hold === undefined || upstreamCost?.estimatedNanos === undefined) return undefined;
  return { nanos: upstreamCost.estimatedNanos, currency: hold.currency, source: 'estimated' };
}

import type { TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';

const NANOS_PER_MICRO = 1000n;

/** The cost of a task at its upstream. */
export interface UpstreamCost {
  readonly nanos: bigint;
  /** ISO 4217. */
  readonly currency: string;
  readonly source: 'reported';
}

/** Words for the source of a cost. */
export const COST_SOURCES: Readonly<Record<UpstreamCost['source'], string>> = {
  reported: 'reported by the upstream',
};

/** Reads the cost of a task at its upstream; undefined if it is not known. */
export function readUpstreamCost({ upstreamCostMicroUsd: reported }: TaskRecord): UpstreamCost | undefined {
  if (reported === undefined) return undefined;
  return { nanos: reported * NANOS_PER_MICRO, currency: 'USD', source: 'reported' };
}

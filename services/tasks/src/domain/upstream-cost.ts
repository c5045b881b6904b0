/** A thousand million US dollars in millionths, the largest amount that the books take. */
const COST_MICRO_USD_MAX = 1_000_000_000_000_000;

/** Returns the reported charge; undefined if it is not a whole number of millionths within the bounds of an amount. */
export function checkUpstreamCost(microUsd: number | undefined): number | undefined {
  if (microUsd === undefined || !Number.isSafeInteger(microUsd)) return undefined;
  return microUsd < 0 || microUsd > COST_MICRO_USD_MAX ? undefined : microUsd;
}

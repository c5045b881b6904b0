import type { TimeSource } from '@reelgate/platform/clock';

/** An upstream that was mended is asked again after an hour, at the cost of one more refusal. */
const REMEMBERED_MS = 3_600_000;

/** The streams of a channel that are asked for their usage. */
export interface UsageRequests {
  mayAsk(model: string): boolean;
  /** The upstream has refused the request for usage of this model, and has served the same call without it. */
  refused(model: string): void;
}

/** Remembers the models of one channel. The configuration bounds their number. */
export function newUsageRequests(clock: TimeSource, isOn: boolean): UsageRequests {
  const silentUntil = new Map<string, number>();
  return {
    mayAsk: (model) => isOn && clock.now() >= (silentUntil.get(model) ?? 0),
    refused: (model) => void silentUntil.set(model, clock.now() + REMEMBERED_MS),
  };
}

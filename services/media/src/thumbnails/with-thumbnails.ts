import type { Clock } from '@reelgate/platform/clock';

/** Above this number of concurrent ingests, or of results within `CALM_MS`, the ingests need the processor. */
const CALM_MAX = 4;
const CALM_MS = 1000;

/**
 * Ingests results and draws the thumbnail of each afterwards. A result does not wait for its thumbnail. While many
 * results come in, no thumbnail is drawn. The first request for it draws it then.
 */
export function withThumbnails<Order, Result>(
  clock: Clock,
  ingest: (order: Order) => Promise<Result>,
  thumbnailOf: (result: Result) => Promise<unknown>,
): (order: Order) => Promise<Result> {
  let comingIn = 0;
  const isCalm = calmness(clock);
  return async (order) => {
    comingIn += 1;
    try {
      return await ingest(order).then((result) => {
        if (isCalm() && comingIn <= CALM_MAX) thumbnailOf(result).catch(() => undefined);
        return result;
      });
    } finally {
      comingIn -= 1;
    }
  };
}

/** Counts a result, and reports whether few came within the last moment. */
function calmness(clock: Clock): () => boolean {
  const last: number[] = [];
  return () => {
    const now = clock.now();
    const [oldest = -Infinity] = last.length < CALM_MAX ? [] : last;
    last.push(now);
    if (last.length > CALM_MAX) last.shift();
    // also after the clock was set back
    return Math.abs(now - oldest) >= CALM_MS;
  };
}

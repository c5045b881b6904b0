/** Results that may still be coming in while a thumbnail is drawn: drawing takes the processor that they need. */
const CALM_MAX = 4;

/**
 * Takes results in, and has the thumbnail of each drawn behind it: a result is complete without its thumbnail and does not wait for it. While
 * many come in at once none is drawn; the first who asks for one has it drawn then.
 */
export function withThumbnails<Order, Result>(
  ingest: (order: Order) => Promise<Result>,
  thumbnailOf: (result: Result) => Promise<unknown>,
): (order: Order) => Promise<Result> {
  let comingIn = 0;
  return async (order) => {
    comingIn += 1;
    try {
      return await ingest(order).then((result) => {
        if (comingIn <= CALM_MAX) thumbnailOf(result).catch(() => undefined);
        return result;
      });
    } finally {
      comingIn -= 1;
    }
  };
}

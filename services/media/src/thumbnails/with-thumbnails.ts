/** Above this number of concurrent ingests no thumbnail is drawn, because the ingests need the processor. */
const CALM_MAX = 4;

/**
 * Ingests results and draws the thumbnail of each afterwards. A result does not wait for its thumbnail. During many
 * concurrent ingests none is drawn; the first request for a thumbnail draws it then.
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

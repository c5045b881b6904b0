/** The batches that their callers have not confirmed yet. A caller confirms within milliseconds, or has died. */
const BATCHES_MAX = 10_000;

/** Batches of calls that are reserved, while the disk still writes them. */
export interface UnwrittenBatches {
  add(batchId: string, durable: Promise<void>): void;
  /**
   * Resolves when the batch is durable, and rejects if its fate is unknown. Returns undefined if the batch is unknown.
   */
  take(batchId: string): Promise<void> | undefined;
}

export function unwrittenBatches(): UnwrittenBatches {
  const batches = new Map<string, Promise<void>>();
  return {
    add: (batchId, durable) => {
      batches.set(batchId, durable);
      const [oldest] = batches.keys();
      if (batches.size > BATCHES_MAX && oldest !== undefined) batches.delete(oldest);
    },
    take: (batchId) => {
      const durable = batches.get(batchId);
      batches.delete(batchId);
      return durable;
    },
  };
}

export interface GathererOptions<In, Out> {
  /** In one batch at the most. */
  readonly batchMax: number;
  /** Batches that run at one time. */
  readonly atOnce: number;
  /** Sends a batch; one answer for each, in their order. */
  readonly send: (batch: readonly In[]) => Promise<readonly Out[]>;
}

interface Waiting<In, Out> {
  readonly item: In;
  readonly resolve: (answer: Out) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers what comes at the same moment into batches. The first one leaves at the end of the turn in which it came, whatever came
 * with it; while as many batches run as may, the others gather, and leave together as soon as one has ended.
 */
export function gatherer<In, Out>({ batchMax, atOnce, send }: GathererOptions<In, Out>): (item: In) => Promise<Out> {
  let waiting: Waiting<In, Out>[] = [];
  let running = 0;
  let isDue = false;

  const run = async (batch: readonly Waiting<In, Out>[]): Promise<void> => {
    running += 1;
    try {
      const answers = await send(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new Error('a batch was answered with too few answers'));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      leave();
    }
  };
  const leave = (): void => {
    isDue = false;
    while (waiting.length > 0 && running < atOnce) {
      const batch = waiting.slice(0, batchMax);
      waiting = waiting.slice(batchMax);
      void run(batch);
    }
  };
  return (item) => new Promise((resolve, reject) => {
    waiting.push({ item, resolve, reject });
    if (isDue || running >= atOnce) return;
    isDue = true;
    setImmediate(leave);
  });
}

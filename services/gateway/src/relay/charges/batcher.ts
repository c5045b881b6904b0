export interface GathererOptions<In, Out> {
  /** In one batch at the most. */
  readonly batchMax: number;
  /** Batches that run at one time. */
  readonly atOnce: number;
  /** Resolves when a batch that begins to gather now is to leave. */
  readonly gathered: () => Promise<unknown>;
  /** Sends a batch; one answer for each, in their order. */
  readonly send: (batch: readonly In[]) => Promise<readonly Out[]>;
}

interface Waiting<In, Out> {
  readonly item: In;
  readonly resolve: (answer: Out) => void;
  readonly reject: (error: unknown) => void;
}

export interface Gatherer<In, Out> {
  take(item: In): Promise<Out>;
  /** Whatever waits leaves now, as far as batches may run. */
  leave(): void;
}

/** Turns of the event loop: a few are nothing to an idle program, and many calls to a busy one. */
export async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Gathers what comes at the same moment into batches. A batch leaves when it has gathered for its time or is full; while as many batches
 * run as may, the others gather, and leave together once one has ended.
 */
export function gatherer<In, Out>({ batchMax, atOnce, gathered, send }: GathererOptions<In, Out>): Gatherer<In, Out> {
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
      if (waiting.length > 0) leaveInTime();
    }
  };
  const leave = (): void => {
    while (waiting.length > 0 && running < atOnce) {
      const batch = waiting.slice(0, batchMax);
      waiting = waiting.slice(batchMax);
      void run(batch);
    }
  };
  const leaveInTime = (): void => {
    if (isDue) return;
    isDue = true;
    void gathered().then(() => {
      isDue = false;
      leave();
    });
  };
  return {
    take: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (waiting.length >= batchMax) leave();
        else if (running < atOnce) leaveInTime();
      }),
    leave,
  };
}

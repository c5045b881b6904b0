export interface GathererOptions<In, Out> {
  /** In one batch at the most. */
  readonly batchMax: number;
  /** Batches that run at one time. */
  readonly atOnce: number;
  /** Turns of the event loop for which a batch gathers before it leaves: a few are nothing to an idle program, and many calls to a busy one. */
  readonly turns: number;
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

/**
 * Gathers what comes at the same moment into batches. A batch leaves after so many turns of the event loop, with whatever came by then;
 * while as many batches run as may, the others gather, and leave together once one has ended.
 */
export function gatherer<In, Out>({ batchMax, atOnce, turns, send }: GathererOptions<In, Out>): Gatherer<In, Out> {
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
      if (waiting.length > 0) leaveIn(turns);
    }
  };
  const leave = (): void => {
    while (waiting.length > 0 && running < atOnce) {
      const batch = waiting.slice(0, batchMax);
      waiting = waiting.slice(batchMax);
      void run(batch);
    }
  };
  const leaveIn = (left: number): void => {
    if (isDue) return;
    isDue = true;
    const turn = (more: number): void => {
      if (more > 1) {
        setImmediate(turn, more - 1);
        return;
      }
      isDue = false;
      leave();
    };
    setImmediate(turn, left);
  };
  return {
    take: (item) => new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running < atOnce) leaveIn(turns);
    }),
    leave,
  };
}

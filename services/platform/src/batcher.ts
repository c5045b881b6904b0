import { currentContext, inSharedContext } from './request-context.ts';
import type { WorkContext } from './request-context.ts';

export interface BatcherOptions<In, Out> {
  /** The most items in one batch. */
  readonly batchMax: number;
  /** The most batches that are sent at the same time. */
  readonly concurrency: number;
  /** Resolves when a batch that starts to fill now is to be sent. `isBusy`: the last batch had more than one item. */
  readonly fill: (isBusy: boolean) => Promise<unknown>;
  /**
   * Sends a batch. The answers are in the order of the items, one for each. A batch of one request runs for that
   * request; a batch of several runs for none.
   */
  readonly send: (batch: readonly In[]) => Promise<readonly Out[]>;
}

interface WaitingItem<In, Out> {
  readonly item: In;
  readonly context: WorkContext;
  readonly resolve: (answer: Out) => void;
  readonly reject: (error: unknown) => void;
}

export interface Batcher<In, Out> {
  /** Sends an item with its batch; resolves to the answer for this item. */
  add(item: In): Promise<Out>;
  /** Sends the items that wait, as far as the concurrency allows. */
  flush(): void;
}

/** A few ticks of the event loop take microseconds in an idle program; a busy one collects many calls meanwhile. */
export async function waitForTicks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Sends items that arrive at the same moment as one batch. A batch is sent when its fill time is over or it is full. At
 * the concurrency limit, items wait, and are sent together when a batch has ended.
 */
export function newBatcher<In, Out>({ batchMax, concurrency, fill, send }: BatcherOptions<In, Out>): Batcher<In, Out> {
  let waiting: WaitingItem<In, Out>[] = [];
  let running = 0;
  let isFilling = false;
  let isBusy = false;

  const run = async (batch: readonly WaitingItem<In, Out>[]): Promise<void> => {
    running += 1;
    isBusy = batch.length > 1;
    try {
      const contexts = batch.map(({ context }) => context);
      const answers = await inSharedContext(contexts, () => send(batch.map(({ item }) => item)));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new Error('a batch has fewer answers than items'));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      if (waiting.length > 0) flushWhenFilled();
    }
  };
  const flush = (): void => {
    while (waiting.length > 0 && running < concurrency) {
      const batch = waiting.slice(0, batchMax);
      waiting = waiting.slice(batchMax);
      void run(batch);
    }
  };
  const flushWhenFilled = (): void => {
    if (isFilling) return;
    isFilling = true;
    void fill(isBusy).then(() => {
      isFilling = false;
      flush();
    });
  };
  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, context: currentContext(), resolve, reject });
        if (waiting.length >= batchMax) flush();
        else if (running < concurrency) flushWhenFilled();
      }),
    flush,
  };
}

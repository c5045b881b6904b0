import { currentContext, inSharedContext } from './request-context.ts';
import type { WorkContext } from './request-context.ts';

interface BatchBounds {
  /** The maximum number of items in one batch. */
  readonly batchMax: number;
  /** The maximum number of batches that are sent at the same time. */
  readonly concurrency: number;
}

/** A batch that waits for more items. */
export interface FillingBatch {
  /** True if the last batch had more than one item. */
  readonly isBusy: boolean;
  /** Reports whether it has as many items as the last batch. Callers that were answered together often return together. */
  readonly isWhole: () => boolean;
}

export interface BatcherOptions<In, Out> extends BatchBounds {
  /** Resolves when a batch that starts to fill now is to be sent. */
  readonly fill: (batch: FillingBatch) => Promise<unknown>;
  /**
   * Sends a batch. Returns one answer for each item, in the order of the items. A batch of one request runs in the
   * context of that request. A batch of several belongs to no request.
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
  /** Sends an item with its batch. Resolves to the answer for this item. */
  add(item: In): Promise<Out>;
  /** Sends the items that wait, as far as the concurrency allows. */
  flush(): void;
}

/**
 * Waits for a few ticks of the event loop, which take microseconds in an idle program. A busy one collects many calls
 * meanwhile.
 */
export async function waitForTicks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves after the continuations of this moment, which run without a turn of the event loop. */
export function waitForContinuations(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * Sends items that arrive at the same moment as one batch. A batch is sent when its fill time is over or it is full. At
 * the concurrency limit, items wait, and are sent together when a batch has ended.
 */
export function newBatcher<In, Out>({ batchMax, concurrency, fill, send }: BatcherOptions<In, Out>): Batcher<In, Out> {
  let waiting: WaitingItem<In, Out>[] = [];
  let running = 0;
  let isFilling = false;
  let lastCount = 0;

  const run = async (batch: readonly WaitingItem<In, Out>[]): Promise<void> => {
    running += 1;
    lastCount = batch.length;
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
    void fill({ isBusy: lastCount > 1, isWhole: () => waiting.length >= lastCount }).then(() => {
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

export interface MomentOptions<In, Out> extends BatchBounds {
  /** Runs all requests together, or none of them. The answers are in their order. */
  readonly run: (requests: readonly In[]) => Promise<readonly Out[]>;
  /** Reports whether requests that failed together end with that error, although each of them might succeed alone. */
  readonly isFinal: (error: unknown) => boolean;
  /**
   * Lists the requests of a batch that can run together. The others run alone after them. By default all run together.
   */
  readonly listSharing?: (batch: readonly In[]) => readonly In[];
}

interface SharedAnswer<Out> {
  readonly answer: Out | undefined;
}

/**
 * Runs the requests of one moment together. If that fails, each runs alone and for itself, so that it fails for its own
 * reason only. A request that is alone waits for a tick of the event loop.
 */
export function newMomentBatcher<In, Out>({
  batchMax,
  concurrency,
  run,
  isFinal,
  listSharing = (batch) => batch,
}: MomentOptions<In, Out>): (request: In) => Promise<Out> {
  const send = async (batch: readonly In[]): Promise<readonly (SharedAnswer<Out> | 'alone')[]> => {
    const sharing = batch.length === 1 ? batch : listSharing(batch);
    if (sharing.length === 0) return batch.map(() => 'alone');
    try {
      const answers = await run(sharing);
      const sent = new Map(sharing.map((request, index) => [request, { answer: answers[index] }]));
      return batch.map((request) => sent.get(request) ?? 'alone');
    } catch (error) {
      if (batch.length === 1 || isFinal(error)) throw error;
      return batch.map(() => 'alone');
    }
  };
  const batcher = newBatcher({ batchMax, concurrency, fill: () => waitForTicks(1), send });
  return async (request) => {
    const sent = await batcher.add(request);
    const answer = sent === 'alone' ? (await run([request]))[0] : sent.answer;
    if (answer === undefined) throw new Error('a batch has fewer answers than items');
    return answer;
  };
}

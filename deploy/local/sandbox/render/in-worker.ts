import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { renderMsMax } from '../limits.ts';
import type { Render } from './render-queue.ts';

/** Renders on a thread of its own. The thread ends with the video or at its deadline, and frees all its memory. */
export const renderInWorker: Render = async (order, stopped) => {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: order });
  try {
    const [bytes] = (await once(worker, 'message', {
      signal: AbortSignal.any([stopped, AbortSignal.timeout(renderMsMax)]),
    })) as [Uint8Array];
    return bytes;
  } finally {
    await worker.terminate();
  }
};

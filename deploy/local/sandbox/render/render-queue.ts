import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { renderMsMax, renderedBytesMax, rendersWaitingMax } from '../limits.ts';
import { pictureKey } from './picture-order.ts';
import type { PictureOrder } from './picture-order.ts';

export type Render = (order: PictureOrder, stopped: AbortSignal) => Promise<Uint8Array>;

/**
 * Renders one video at a time. Equal orders share one rendering. A video that was dropped to save memory is rendered
 * again at the next request, to the same bytes.
 */
export type RenderQueue = {
  hasRoomFor(order: PictureOrder): boolean;
  render(order: PictureOrder): Promise<Uint8Array>;
  /** Resolves when no rendering is running or waiting. */
  idle(): Promise<void>;
};

type Bounds = { readonly waitingMax: number; readonly bytesMax: number };

export function renderQueue(
  render: Render,
  stopped: AbortSignal,
  bounds: Bounds = { waitingMax: rendersWaitingMax, bytesMax: renderedBytesMax },
): RenderQueue {
  const kept = new Map<string, Uint8Array>();
  const waiting = new Map<string, Promise<Uint8Array>>();
  let last: Promise<void> = Promise.resolve();

  const keep = (key: string, bytes: Uint8Array): void => {
    kept.delete(key);
    kept.set(key, bytes);
    for (const oldest of kept.keys()) {
      const size = [...kept.values()].reduce((sum, video) => sum + video.length, 0);
      if (size <= bounds.bytesMax || oldest === key) return;
      kept.delete(oldest);
    }
  };

  const enqueue = (key: string, order: PictureOrder): Promise<Uint8Array> => {
    const rendered = last.then(() => {
      stopped.throwIfAborted();
      return render(order, stopped);
    });
    const done = rendered
      .then((bytes) => {
        keep(key, bytes);
        return bytes;
      })
      .finally(() => waiting.delete(key));
    waiting.set(key, done);
    last = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  };

  return {
    hasRoomFor: (order) =>
      waiting.size < bounds.waitingMax || waiting.has(pictureKey(order)) || kept.has(pictureKey(order)),
    idle: () => last,
    render: (order) => {
      const key = pictureKey(order);
      const bytes = kept.get(key);
      if (bytes !== undefined) {
        keep(key, bytes);
        return Promise.resolve(bytes);
      }
      return waiting.get(key) ?? enqueue(key, order);
    },
  };
}

/** Renders on a thread of its own. The thread ends with the video or at its deadline, and frees all its memory. */
export const renderInWorker: Render = async (order, stopped) => {
  const worker = new Worker(new URL('./render-worker.ts', import.meta.url), { workerData: order });
  try {
    const [bytes] = (await once(worker, 'message', {
      signal: AbortSignal.any([stopped, AbortSignal.timeout(renderMsMax)]),
    })) as [Uint8Array];
    return bytes;
  } finally {
    await worker.terminate();
  }
};

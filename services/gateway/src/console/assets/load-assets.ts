import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DoorAssets } from './prepare-assets.ts';

/** The files of both doors. They are prepared at the first request, so a gateway without visitors pays nothing. */
export function loadAssets(): () => Promise<DoorAssets> {
  let loading: Promise<DoorAssets> | undefined;
  return () => {
    loading ??= inThread().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

async function inThread(): Promise<DoorAssets> {
  const worker = new Worker(new URL('./asset-worker.ts', import.meta.url));
  try {
    const [assets] = (await once(worker, 'message')) as [DoorAssets];
    return assets;
  } finally {
    await worker.terminate();
  }
}

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Assets } from './prepare-assets.ts';

/** The files of the console. They are prepared at the first request, so a gateway without visitors pays nothing. */
export function loadAssets(): () => Promise<Assets> {
  let loading: Promise<Assets> | undefined;
  return () => {
    loading ??= inThread().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

async function inThread(): Promise<Assets> {
  const worker = new Worker(new URL('./asset-worker.ts', import.meta.url));
  try {
    const [assets] = (await once(worker, 'message')) as [Assets];
    return assets;
  } finally {
    await worker.terminate();
  }
}

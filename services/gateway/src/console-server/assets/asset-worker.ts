import { parentPort } from 'node:worker_threads';
import { prepareAssets } from './prepare-assets.ts';

// In a thread of its own, so that no request waits for it, and its memory is given back.
parentPort?.postMessage(await prepareAssets());

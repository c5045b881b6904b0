import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { PictureOrder } from './picture-order.ts';
import { renderVideo } from './render-video.ts';

// On Linux this sets the priority of this thread only, so that drawing gives way to serving. On other systems it would
// slow the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

// The muxer writes the time of day into the file. This thread has a fixed time, so that equal orders give equal bytes.
Date.now = () => 0;

const bytes = await renderVideo(workerData as PictureOrder);
parentPort?.postMessage(bytes, [bytes.buffer]);

import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { PictureOrder } from './picture-order.ts';
import { renderVideo } from './video.ts';

// Linux sets the priority of this thread alone: drawing gives way to serving. Elsewhere it would slow the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

// The muxer writes the time of day into the file. On this thread it is always the same, so that equal orders give equal bytes.
Date.now = () => 0;

const bytes = await renderVideo(workerData as PictureOrder);
parentPort?.postMessage(bytes, [bytes.buffer]);

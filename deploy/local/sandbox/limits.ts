/** Every bound of the sandbox. Those of the vendor's documentation are marked `vendor`. */

const second = 1000;
const hour = 3600 * second;
const mebibyte = 2 ** 20;

export const bodyBytesMax = 64 * mebibyte; // vendor
export const bodyMsMax = 120 * second;
// Longer than callers keep a connection, so that the server does not close one at the moment of its reuse.
export const idleMsMax = 75 * second;
export const tasksMax = 2000;
export const refusedOnceMax = 1000;

export const recordMsMax = 7 * 24 * hour; // vendor
export const linkMsMax = hour;
export const pageSizeMax = 100;

export const challengeMsMax = 3 * second; // vendor
export const pushMsMax = 5 * second;
export const callbackAnswerBytesMax = 64 * 1024;

export const mediaBytesMax = { image: 30 * mebibyte, video: 50 * mebibyte, audio: 15 * mebibyte } as const; // vendor
export const mediaFetchMsMax = 3 * second;

export const rendersWaitingMax = 64;
export const renderMsMax = 300 * second;
export const renderedBytesMax = 128 * mebibyte;

export const wordMs = 30;

export const steeredMsMax = 24 * hour;
export const queuedMsDefault = second;
export const runningMsDefault = second;

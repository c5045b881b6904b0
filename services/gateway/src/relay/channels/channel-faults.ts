/** Answers that blame the channel, not the request: another channel may do better. */
const CHANNEL_FAULTS: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429]);
/** Of those, the ones that say something of us and nothing that the client should know. */
const OURS: ReadonlySet<number> = new Set([401, 402, 403]);
/** Say nothing of whether the channel works. */
const UNDECIDED: ReadonlySet<number> = new Set([404, 408, 429, 501]);

/** Whether an answer that is no success is the channel's fault. */
export function blamesChannel(status: number): boolean {
  return status < 400 || status >= 500 || CHANNEL_FAULTS.has(status);
}

/** Whether a client may see it, where no channel has done better. */
export function isForClients(status: number): boolean {
  return status >= 400 && !OURS.has(status);
}

export function saysNothing(status: number): boolean {
  return UNDECIDED.has(status);
}

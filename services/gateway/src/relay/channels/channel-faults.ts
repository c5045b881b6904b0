/** Statuses that blame the channel, not the request: another channel may succeed. */
const CHANNEL_FAULTS: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429]);
/** Of these, the statuses that concern the gateway's credential; a client does not see them. */
const OURS: ReadonlySet<number> = new Set([401, 402, 403]);
/** Statuses that do not tell whether the channel works. */
const INCONCLUSIVE: ReadonlySet<number> = new Set([404, 408, 429, 501]);

/** Reports whether an error is the channel's fault. */
export function blamesChannel(status: number): boolean {
  return status < 400 || status >= 500 || CHANNEL_FAULTS.has(status);
}

/** Reports whether a client may see the error if no other channel succeeds. */
export function isForClients(status: number): boolean {
  return status >= 400 && !OURS.has(status);
}

export function isInconclusive(status: number): boolean {
  return INCONCLUSIVE.has(status);
}

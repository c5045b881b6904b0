import type { ServerResponse } from 'node:http';

const HINT = { leastMs: 1000, mostMs: 60_000, unknownMs: 2000 };

interface PolledTask {
  readonly pollAfterMs: bigint;
}

/** Milliseconds until a client should poll a running task again. */
export function computePollDelayMs({ pollAfterMs }: PolledTask): number {
  return pollAfterMs > 0n ? Math.min(HINT.mostMs, Math.max(HINT.leastMs, Number(pollAfterMs))) : HINT.unknownMs;
}

/** Sets the headers that tell a client when to poll a running task again. */
export function setPollHints(response: ServerResponse, task: PolledTask): void {
  const ms = computePollDelayMs(task);
  response.setHeader('openai-poll-after-ms', String(ms));
  response.setHeader('retry-after', String(Math.max(1, Math.ceil(ms / 1000))));
}

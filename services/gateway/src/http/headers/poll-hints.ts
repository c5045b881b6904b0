import type { Task } from '../../clients/tasks-client.ts';

const HINT = { leastMs: 1000, mostMs: 60_000, unknownMs: 2000 };

/** The headers that tell a client when to poll a running task again. */
export function pollHints({ pollAfterMs }: Pick<Task, 'pollAfterMs'>): Record<string, string> {
  const ms = pollAfterMs > 0n ? Math.min(HINT.mostMs, Math.max(HINT.leastMs, Number(pollAfterMs))) : HINT.unknownMs;
  return { 'openai-poll-after-ms': String(ms), 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) };
}

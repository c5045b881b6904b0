import type { ChannelRuntime } from '../channels/channel-registry.ts';
import type { Deps } from './deps.ts';

/** Longer than the rest of a channel after a start, and than a second with all its polls used up. */
const WAIT_MAX_MS = 4000;
const WAIT_MIN_MS = 1;

/** Takes a poll of the channel as soon as one is free. Returns false if that takes too long or the caller has left. */
export async function waitForPoll(
  { clock }: Pick<Deps, 'clock'>,
  { polls }: Pick<ChannelRuntime, 'polls'>,
  signal?: AbortSignal,
): Promise<boolean> {
  let leftMs = WAIT_MAX_MS;
  while (!polls.take()) {
    const waitMs = Math.max(WAIT_MIN_MS, polls.waitMs());
    leftMs -= waitMs;
    if (leftMs < 0 || signal?.aborted === true) return false;
    await clock.sleep(waitMs, signal);
  }
  return true;
}

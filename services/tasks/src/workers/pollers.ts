import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Worker } from '@reelgate/platform/lifecycle/worker';
import type { Deps } from '../operations/deps.ts';
import { channelPoller } from './poll-channel.ts';
import type { ChannelPoller } from './poll-channel.ts';
import { waitForAbort } from '@reelgate/platform/lifecycle/drain';
import type { Drain } from '@reelgate/platform/lifecycle/drain';
import type { QueueWorker } from './take-turns.ts';

const IDLE_MS = 200;
/** Tasks that become due within this time share a claim: a claim of one task each costs more than its poll. */
const CLAIMS_APART_MS = 50;
/** The same where one call polls several works, so that each call has many. */
const FULL_CALLS_APART_MS = 500;
/** After this time, running work such as the fetch of a long result is left to another process. */
const HAND_OVER_MS = 5000;

export interface Pollers {
  wake(channelId: string): void;
  /** Starts pollers for the channels of a new configuration. Removed channels are polled until their work has ended. */
  renew(): void;
  /** Starts no further polls, waits for the running ones for a while, and leaves the rest to other processes. */
  stop(): Promise<void>;
}

/** One poller for each channel. */
export function startPollers(deps: Deps): Pollers {
  const running = new Map<string, { readonly worker: Worker; readonly poller: ChannelPoller }>();
  const renew = (): void => {
    for (const { channel } of deps.channels.all()) {
      const { id } = channel.settings;
      const apartMs = channel.pollManyMax > 1 ? FULL_CALLS_APART_MS : CLAIMS_APART_MS;
      if (running.has(id)) continue;
      const poller = channelPoller(deps, () => deps.channels.find(id));
      running.set(id, {
        poller,
        worker: startWorker({
          name: `polls of ${id}`,
          clock: deps.clock,
          log: deps.log,
          idleMs: IDLE_MS,
          apartMs,
          pass: () => poller.pass(id),
        }),
      });
    }
  };
  renew();
  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map(({ worker }) => worker.stop()));
    const ended = new AbortController();
    const idle = Promise.all([...running.values()].map(({ poller }) => poller.idle()));
    await Promise.race([idle, deps.clock.sleep(HAND_OVER_MS, ended.signal)]);
    ended.abort();
  };
  let stopped: Promise<void> | undefined;
  return {
    wake: (channelId) => running.get(channelId)?.worker.wake(),
    renew,
    stop: () => (stopped ??= stop()),
  };
}

const CREATES_MS_MAX = 5000;
const CHECK_MS = 100;

/**
 * Ends the polls and the turns of the queue, and waits for the running creates, also without their callers. Other
 * processes continue the polls and the turns.
 */
export async function drainWork(
  deps: Deps,
  { pollers, queue }: { readonly pollers: Pollers; readonly queue: QueueWorker },
  { closing, over }: Drain,
): Promise<void> {
  await waitForAbort(closing);
  await queue.stop();
  await Promise.all([pollers.stop(), waitForCreates(deps, () => over.aborted)]);
}

/** At the stop of a process: waits for its creates for a while, then leaves all its work to the other processes. */
export async function handOver(deps: Deps): Promise<void> {
  const { store, clock, processId } = deps;
  const until = clock.now() + CREATES_MS_MAX;
  await waitForCreates(deps, () => clock.now() >= until);
  await store.dropLeases(processId);
  // Other processes take a process without a heartbeat for dead, so its heartbeat is removed last.
  await store.forget(processId);
}

async function waitForCreates({ clock, creating }: Deps, isLate: () => boolean): Promise<void> {
  while ([...creating.values()].includes('working') && !isLate()) await clock.sleep(CHECK_MS);
}

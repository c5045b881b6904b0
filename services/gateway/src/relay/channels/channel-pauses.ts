import type { Clock } from '@reelgate/platform/clock';
import type { AskedWaits } from '@reelgate/platform/limits/asked-waits';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Log } from '@reelgate/platform/log';
import type { ChannelPause, ReadChannelPauses, RestingChannels } from '../../clients/channels-client.ts';

/** A pause with a lost event is noticed within this time. */
const READ_EVERY_MS = 5000;

/** The channels that operators have paused, as far as this process knows. */
export interface ChannelPauses {
  /** Returns the pause of a channel, or undefined if it is not paused, or its pause is over. */
  of(channel: string): ChannelPause | undefined;
  /** Reads the pauses now. Rejects if they cannot be read, and then the known ones stay. */
  refresh(): Promise<void>;
  /** Reads them soon. */
  wake(): void;
  stop(): Promise<void>;
}

export interface ChannelPausesOptions {
  readonly read: ReadChannelPauses;
  /** Learns the waits that are read with the pauses. */
  readonly waits: Pick<AskedWaits, 'learn'>;
  /** Learns, with the first pauses, the calls that gateways have given their channels in the last minute. */
  readonly learnCalls: (calls: RestingChannels['calls']) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Follows the pauses. While they cannot be read, those that are known stay. */
export function followChannelPauses({ read, waits, learnCalls, clock, log }: ChannelPausesOptions): ChannelPauses {
  let known: ReadonlyMap<string, ChannelPause> = new Map();
  let [asked, shown] = [0, 0];
  let isAway = false;
  const refresh = async (): Promise<void> => {
    asked += 1;
    const mine = asked;
    const { pauses, waits: learned, calls } = await read(shown === 0);
    waits.learn(learned);
    if (shown === 0) learnCalls(calls);
    // an answer that a newer one has overtaken is old
    if (mine < shown) return;
    shown = mine;
    known = new Map(pauses.map((pause) => [pause.channel, pause]));
  };
  const worker = startWorker({
    name: 'channel pauses',
    clock,
    log,
    idleMs: READ_EVERY_MS,
    pass: async () => {
      try {
        await refresh();
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn({ err: error }, 'the pauses of channels cannot be read; the known ones stay');
        isAway = true;
      }
      return 0;
    },
  });
  return {
    of: (channel) => {
      const pause = known.get(channel);
      return pause?.endsAt !== undefined && clock.now() >= pause.endsAt ? undefined : pause;
    },
    refresh,
    wake: () => worker.wake(),
    stop: () => worker.stop(),
  };
}

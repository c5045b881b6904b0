import type { Clock } from '@reelgate/platform/clock';
import { newAskedWaits } from '@reelgate/platform/limits/asked-waits';
import type { AskedWait, AskedWaits } from '@reelgate/platform/limits/asked-waits';
import type { Log } from '@reelgate/platform/log';
import type { WaitStore } from '../../store/operator-store.ts';

export interface SharedWaitsDeps {
  readonly operators: WaitStore;
  readonly announce: (wait: AskedWait) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The waits that upstreams ask for, which all processes obey, also one that has just started. */
export interface SharedWaits extends AskedWaits {
  /** Another process announced a wait. The waits of the gateway's channels are kept here too. */
  receive(wait: AskedWait): void;
  /** Reads the waits that others have written, and removes those that are over. */
  read(): Promise<void>;
}

/** This process obeys a wait at once, others as soon as they receive or read it. */
export function newSharedWaits({ operators, announce, clock, log }: SharedWaitsDeps): SharedWaits {
  const keep = (wait: AskedWait): void => {
    operators
      .noteWait(wait)
      .catch((error: unknown) =>
        log.warn({ channel: wait.peer, err: error }, 'the wait that an upstream asks for could not be written'),
      );
  };
  const waits = newAskedWaits(clock, (wait) => {
    const { peer: channel, kind, until } = wait;
    log.warn({ channel, kind, until }, 'an upstream asks for a wait');
    announce(wait);
    keep(wait);
  });
  return {
    ...waits,
    receive: (wait) => {
      if (waits.learn([wait])) keep(wait);
    },
    read: async () => {
      waits.learn(await operators.listWaits(clock.now()));
      await operators.removeOldWaits(clock.now());
    },
  };
}

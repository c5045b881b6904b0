import { LRUCache } from 'lru-cache';
import type { Clock } from '@reelgate/platform/clock';
import type { WrongKeys } from '@reelgate/platform/limits/wrong-keys';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import { sourceNetwork } from '@reelgate/platform/source-address';
import { refuse } from '../refusals.ts';

/** The wrong keys of one address that are looked at within the window. */
const WRONG_MAX = 10;
/** It begins with the first wrong key, and further ones do not lengthen it. */
const WINDOW_MS = 60_000;
/** Addresses with wrong keys; the one that was quiet for longest is forgotten. */
const ADDRESSES_MAX = 10_000;

/** Bounds how many keys an address can try. */
export interface OperatorDoor {
  /**
   * Lets an attempt to sign in through, unless its address has sent too many wrong keys. Then every key of it is refused
   * alike, a right one too: an answer that told them apart would let a stranger go on guessing.
   */
  pass<T>(address: string, attempt: () => Promise<T> | T): Promise<T>;
}

interface Window {
  readonly endsAt: number;
  wrong: number;
}

export function openOperatorDoor(clock: Clock, wrongKeys: WrongKeys): OperatorDoor {
  // grows with its addresses; by `max` alone it would take the memory of all of them at the start
  const windows = new LRUCache<string, Window>({ maxSize: ADDRESSES_MAX, sizeCalculation: () => 1 });
  const openWindow = (network: string): Window => {
    const known = windows.get(network);
    if (known !== undefined && clock.now() < known.endsAt && known.endsAt - clock.now() <= WINDOW_MS) return known;
    const opened = { endsAt: clock.now() + WINDOW_MS, wrong: 0 };
    windows.set(network, opened);
    return opened;
  };
  return {
    pass: async (address, attempt) => {
      const window = openWindow(sourceNetwork(address));
      if (window.wrong >= WRONG_MAX) {
        wrongKeys.note(address, 'refused');
        throw tooManyWrong(window.endsAt - clock.now());
      }
      // counted before the answer is known, so that attempts at the same time are bounded too
      window.wrong += 1;
      try {
        const passed = await attempt();
        window.wrong -= 1;
        return passed;
      } catch (error) {
        if (isProblem(error) && error.kind === 'unauthenticated') wrongKeys.note(address, 'wrong');
        else window.wrong -= 1;
        throw error;
      }
    },
  };
}

function tooManyWrong(leftMs: number): Problem {
  return refuse('rate_limit_exceeded', {
    retryAfterMs: leftMs,
    message: `too many wrong keys from this address; retry in ${Math.ceil(leftMs / 1000)} s`,
  });
}

import { newActiveSet } from '@reelgate/platform/active-set';

/** The transfers that end when the service stops. */
export interface TransfersUnderWay {
  /** Calls `stop` when the service stops, or immediately if it has stopped. The returned function leaves the set. */
  add(stop: () => void): () => void;
}

/** Registers one listener for all transfers, because a signal compares a new listener with all existing ones. */
export function transfersUnderWay(stopping: AbortSignal): TransfersUnderWay {
  const stops = newActiveSet<() => void>();
  stopping.addEventListener(
    'abort',
    () => {
      for (const stop of stops.all()) stop();
    },
    { once: true },
  );
  return {
    add: (stop) => {
      if (stopping.aborted) stop();
      return stops.add(stop);
    },
  };
}

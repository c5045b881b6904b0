import type { Watch } from './task-changes.ts';

/** An announcement of the services other than a change of a task. */
export type Signal =
  | { readonly of: 'events_dispatched' }
  | { readonly of: 'attention'; readonly id: string }
  | { readonly of: 'channels'; readonly id: string };

/** Passes announcements on to open pages. */
export interface ServiceSignals {
  tell(signal: Signal): void;
  /** Calls back at each signal until closed. */
  hear(onSignal: (signal: Signal) => void): Watch;
}

export function openServiceSignals(): ServiceSignals {
  const listeners = new Set<(signal: Signal) => void>();
  return {
    tell: (signal) => {
      for (const onSignal of listeners) onSignal(signal);
    },
    hear: (onSignal) => {
      listeners.add(onSignal);
      return { close: () => void listeners.delete(onSignal) };
    },
  };
}

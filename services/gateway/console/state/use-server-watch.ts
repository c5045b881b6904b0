import { useEffect, useRef } from 'preact/hooks';
import type { Me, OperatorMe, WaitingCount } from '../api/session.ts';
import { announce } from './announce.ts';
import type { DoorQueue } from './door.ts';
import { isLivePaused } from './live.ts';
import { onDoubt, silentForMs } from './outage.ts';
import { useView } from './use-view.ts';

/** A page that nothing changes asks this often whether the server is still there. */
const SILENT_MS_MAX = 30_000;
const LOOK_MS = 5000;
const PROBE_MS_MAX = 10_000;
const NO_TOPICS: DoorQueue<never>['topics'] = [];

/** The work in the queue of the console; `unknown` if it cannot be read now; undefined if the console has no queue. */
export type WaitingNow = WaitingCount | 'unknown' | undefined;

export interface ServerWatch<S> {
  readonly waiting: WaitingNow;
  /** As the server said last. */
  readonly me: S;
}

/**
 * Follows who is signed in. It finds out whether the server is still there, on pages too that read nothing by
 * themselves, and how many entries wait in the queue.
 */
export function useServerWatch<S extends Me | OperatorMe>(me: S, queue: DoorQueue<S> | undefined): ServerWatch<S> {
  const { data, refresh } = useView<S>('/me', queue?.topics ?? NO_TOPICS, {
    first: me,
    isProbe: true,
    timeoutMs: PROBE_MS_MAX,
  });
  useEffect(() => onDoubt(refresh), [refresh]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !isLivePaused() && silentForMs() > SILENT_MS_MAX) refresh();
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [refresh]);
  const waiting = queue === undefined ? undefined : ((data && queue.readLength(data)) ?? 'unknown');
  useSpokenRise(waiting, queue);
  return { waiting, me: data ?? me };
}

/** Speaks the number when it grows while the page is open. */
function useSpokenRise(waiting: WaitingNow, queue: Pick<DoorQueue<never>, 'words'> | undefined): void {
  const before = useRef<number | undefined>(undefined);
  const count = typeof waiting === 'object' ? waiting.count : undefined;
  useEffect(() => {
    if (count === undefined || queue === undefined) return;
    if (before.current !== undefined && count > before.current) announce(queue.words.spoken(count));
    before.current = count;
  }, [count, queue]);
}

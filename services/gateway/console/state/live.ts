import { useEffect, useRef, useState } from 'preact/hooks';
import type { Change, Topic } from '../api/stream.ts';
import { toBrowserPath } from './address.ts';
import { currentOutage, doubtServer, watchOutage } from './outage.ts';

const POLL_MS = 5000;
/** A stream that was refused is tried again after this time. */
const REFUSED_MS = 30_000;
/** Changes of this time are told together, so a busy account does not redraw its page all the time. */
const APART_MS = 400;

/** `none`: nothing of the page changes by itself. */
export type LiveState = 'live' | 'polling' | 'paused' | 'none';

type OnChange = (change: Change) => void;

interface Listener {
  readonly topics: readonly Topic[];
  readonly onChange: OnChange;
}

let source: EventSource | undefined;
let connected = '';
let state: LiveState = 'none';
let isPaused = false;
const listeners = new Set<Listener>();
const watchers = new Set<(state: LiveState) => void>();

function setState(next: LiveState): void {
  state = next;
  for (const watcher of watchers) watcher(next);
}

/** One stream for the tab, with the topics of the page that is open. */
function connect(): void {
  const topics = [...new Set([...listeners].flatMap((listener) => listener.topics))].toSorted();
  // what reads tries again until the server is back, at its own distances
  const isGone = currentOutage()?.kind === 'silent';
  const wanted = isPaused || isGone || document.hidden ? '' : topics.join(',');
  if (wanted === connected && (wanted === '' || source !== undefined)) return;
  source?.close();
  source = undefined;
  connected = wanted;
  setState(isPaused ? 'paused' : topics.length === 0 ? 'none' : 'polling');
  if (wanted === '') return;
  const opened = new EventSource(toBrowserPath(`/console/api/stream?topics=${encodeURIComponent(wanted)}`));
  source = opened;
  opened.onopen = () => setState('live');
  opened.onerror = () => {
    if (source !== opened) return;
    if (state === 'live') doubtServer();
    setState('polling');
    // the browser connects again by itself, except after a refusal
    if (opened.readyState === EventSource.CLOSED) connectLater(opened);
  };
  opened.onmessage = ({ data }) => tell(JSON.parse(String(data)) as Change);
}

function connectLater(refused: EventSource): void {
  setTimeout(() => {
    if (source !== refused) return;
    source = undefined;
    connect();
  }, REFUSED_MS);
}

watchOutage((outage) => {
  // a stream that was refused with everything else comes back with it
  if (outage === undefined && source?.readyState === EventSource.CLOSED) source = undefined;
  connect();
  // what changed in the meantime was told to nobody
  if (outage === undefined && !isPaused) tell({ topic: 'all', ids: [] });
});

/** Reports whether the switch of the page is off. */
export function isLivePaused(): boolean {
  return isPaused;
}

function tell(change: Change): void {
  for (const { topics, onChange } of listeners) {
    if (change.topic === 'all' || topics.includes(change.topic)) onChange(change);
  }
}

/**
 * Calls back when something of the topics has changed: at once from the stream, or every five seconds while there is
 * none. It is quiet while the page is hidden or the switch is off.
 */
export function useLive(topics: readonly Topic[], onChange: OnChange): void {
  const latest = useRef(onChange);
  latest.current = onChange;
  const names = topics.join(',');
  useEffect(() => {
    if (names === '') return undefined;
    let pending: Change | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listener: Listener = {
      topics: names.split(',') as Topic[],
      onChange: (change) => {
        pending = pending === undefined ? change : { topic: 'all', ids: [] };
        timer ??= setTimeout(() => {
          timer = undefined;
          const told = pending;
          pending = undefined;
          if (told !== undefined) latest.current(told);
        }, APART_MS);
      },
    };
    listeners.add(listener);
    const poll = setInterval(() => {
      if (state === 'polling' && !document.hidden && currentOutage() === undefined)
        latest.current({ topic: 'all', ids: [] });
    }, POLL_MS);
    const visible = (): void => {
      connect();
      if (!document.hidden && !isPaused) listener.onChange({ topic: 'all', ids: [] });
    };
    document.addEventListener('visibilitychange', visible);
    connect();
    return () => {
      listeners.delete(listener);
      clearInterval(poll);
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', visible);
      queueMicrotask(connect);
    };
  }, [names]);
}

/** Returns whether the page follows changes, and the switch for it. */
export function useLiveSwitch(): { readonly state: LiveState; readonly toggle: () => void } {
  const [shown, setShown] = useState(state);
  useEffect(() => {
    // it can have changed since the page was drawn
    setShown(state);
    watchers.add(setShown);
    return () => {
      watchers.delete(setShown);
    };
  }, []);
  return {
    state: shown,
    toggle: () => {
      isPaused = !isPaused;
      connect();
      if (!isPaused) tell({ topic: 'all', ids: [] });
    },
  };
}

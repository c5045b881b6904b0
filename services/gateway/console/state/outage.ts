import { useEffect, useRef, useState } from 'preact/hooks';
import { serverNow } from './api.ts';

/** A read that failed because no answer came or the server has a fault. */
export interface FailedRead {
  /** The HTTP status; 0: no answer came. */
  readonly status: number;
  readonly startedAt: number;
  /** The time of the last good read of the same thing; undefined before the first. */
  readonly goodAt: number | undefined;
}

/**
 * The reason why a page is not up to date. `silent`: the server does not answer at all. `slow`: it does not answer this
 * in time. `failing`: it answers with an error.
 */
export interface Outage {
  readonly kind: 'silent' | 'slow' | 'failing';
  /** The HTTP status of `failing`. */
  readonly status: number;
  /** The time of the data that the page shows, undefined if it shows no data. */
  readonly since: number | undefined;
}

const SERVER_FAULT = 500;

/** Reports whether a read failed through no fault of its request. 501 is an answer that a retry does not change. */
export function isOutage({ status }: { readonly status: number }): boolean {
  return status === 0 || (status >= SERVER_FAULT && status !== 501);
}

/** Judges the failed reads of a page together. `heardAt` is when an answer of any kind came last. */
export function judgeOutage(failed: readonly FailedRead[], heardAt: number | undefined): Outage | undefined {
  const isUnheard = ({ status, startedAt }: FailedRead): boolean =>
    status === 0 && (heardAt === undefined || heardAt <= startedAt);
  if (failed.some(isUnheard)) return { kind: 'silent', status: 0, since: heardAt };
  const [first] = failed;
  if (first === undefined) return undefined;
  const { status } = failed.find((one) => one.status !== 0) ?? first;
  const times = failed.flatMap(({ goodAt }) => (goodAt === undefined ? [] : [goodAt]));
  const since = times.length === 0 ? undefined : Math.min(...times);
  return { kind: status === 0 ? 'slow' : 'failing', status, since };
}

const FIRST_MS = 2000;
const FACTOR = 2;
const MOST_MS = 15_000;
/** Pages that lost the server at the same moment come back apart. */
const SPREAD = 0.4;

/** Returns how long to wait before the next try, after that number of failures in a row. `chance` is from 0 to 1. */
export function retryDelay(failures: number, chance: number): number {
  const whole = Math.min(MOST_MS, FIRST_MS * FACTOR ** Math.max(0, failures - 1));
  return Math.round(whole * (1 - SPREAD * chance));
}

/** A reader: its identity, and how it tries again. */
export interface Reader {
  readonly retry: () => void;
}

/** Stands for readers that have left the page. */
const GONE: Reader = { retry: () => undefined };

const failed = new Map<Reader, FailedRead>();
const watchers = new Set<(outage: Outage | undefined) => void>();
const doubters = new Set<() => void>();
let heardAt: number | undefined;
let outage: Outage | undefined;

/** Returns what keeps the page from being up to date now. */
export function currentOutage(): Outage | undefined {
  return outage;
}

/** Returns for how long nothing was heard from the server. */
export function silentForMs(): number {
  return heardAt === undefined ? Infinity : serverNow() - heardAt;
}

/** The server answered, so who still waits for it tries again at once. */
export function noteAnswer(reader: Reader): void {
  hearServer();
  failed.delete(reader);
  const wasSilent = outage?.kind === 'silent';
  const waiting = wasSilent ? [...failed].filter(([, { status }]) => status === 0).map(([other]) => other) : [];
  for (const other of waiting) failed.delete(other);
  judge();
  for (const other of waiting) other.retry();
}

export function noteFailure(reader: Reader, failure: FailedRead): void {
  const wasSilent = outage?.kind === 'silent';
  if (failure.status !== 0) hearServer();
  failed.set(reader, failure);
  judge();
  // who watches the server goes on asking when the reader is gone
  if (!wasSilent && outage?.kind === 'silent') doubtServer();
}

/** The reader is gone, or reads something else. That the server is silent stays known until it answers. */
export function forgetReader(reader: Reader): void {
  const failure = failed.get(reader);
  if (failure === undefined) return;
  failed.delete(reader);
  if (outage?.kind === 'silent' && failure.status === 0) failed.set(GONE, failure);
  judge();
}

/** Something hints that the server is gone, such as a stream that broke. Who can find out does. */
export function doubtServer(): void {
  for (const ask of doubters) ask();
}

/** Calls back at each doubt. */
export function onDoubt(ask: () => void): () => void {
  doubters.add(ask);
  return () => {
    doubters.delete(ask);
  };
}

/** Calls back when an outage begins, changes or ends. */
export function watchOutage(watcher: (outage: Outage | undefined) => void): () => void {
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
  };
}

/** An answer of any kind came. */
export function hearServer(): void {
  heardAt = serverNow();
  failed.delete(GONE);
}

function judge(): void {
  const next = judgeOutage([...failed.values()], heardAt);
  if (next?.kind === outage?.kind && next?.status === outage?.status && next?.since === outage?.since) return;
  outage = next;
  for (const watcher of watchers) watcher(next);
}

/** The reason why the page is not up to date; undefined if it is. */
export function useOutage(): Outage | undefined {
  const [shown, setShown] = useState(outage);
  useEffect(() => {
    setShown(outage);
    return watchOutage(setShown);
  }, []);
  return shown;
}

/**
 * Tries again after each failure, at growing distances. `failures` is their number in a row; 0: nothing is tried. A
 * hidden page waits until a person looks at it.
 */
export function useRetry(failures: number, retry: () => void): void {
  const latest = useRef(retry);
  latest.current = retry;
  useEffect(() => {
    if (failures === 0) return undefined;
    const tryNow = (): void => {
      document.removeEventListener('visibilitychange', tryNow);
      latest.current();
    };
    const timer = setTimeout(
      () => {
        if (document.hidden) document.addEventListener('visibilitychange', tryNow);
        else tryNow();
      },
      retryDelay(failures, Math.random()),
    );
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', tryNow);
    };
  }, [failures]);
}

import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Topic } from '../api/stream.ts';
import { api, asApiError, serverNow, setServerClock } from './api.ts';
import type { ApiError, Call } from './api.ts';
import { useLive } from './live.ts';
import { currentOutage, forgetReader, isOutage, noteAnswer, noteFailure, useRetry } from './outage.ts';
import type { Reader } from './outage.ts';

export interface View<T> {
  /** The data that was read last; undefined before the first read. */
  readonly data: T | undefined;
  /** The reason for which the last read failed; undefined if it did not. It stays while an outage is tried again. */
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** The time at which `data` was read, by the clock of the service. */
  readonly readAt: number | undefined;
  /** Reads again. */
  readonly refresh: () => void;
}

export interface ViewOptions<T> {
  /** Data that is known already, so that nothing is read at first. */
  readonly first?: T;
  /** An error of the server begins no outage for it, and ends none. */
  readonly isProbe?: boolean;
  /** The time to wait for an answer. Defaults to the deadline of every call. */
  readonly timeoutMs?: number;
}

type ViewState<T> = Omit<View<T>, 'refresh'> & { readonly failures: number };

/** A read of a page. Two reads with the same key return the same data. */
export interface Read<T> {
  readonly key: string;
  readonly read: (call: Pick<Call, 'signal' | 'timeoutMs'>) => Promise<T>;
}

/** Reads a view of the API at a path below `/console/api`; undefined reads nothing yet. */
export function useView<T>(
  path: string | undefined,
  topics: readonly Topic[] = [],
  options: ViewOptions<T> = {},
): View<T> {
  return useRead(path === undefined ? undefined : { key: path, read: (call) => api<T>(path, call) }, topics, options);
}

/**
 * Reads, and reads again when one of the topics changes. A new key starts over; late answers to older reads are
 * dropped. While the server is gone or has a fault, the read is tried again and the old data stays.
 */
export function useRead<T>(
  wanted: Read<T> | undefined,
  topics: readonly Topic[] = [],
  { first, isProbe = false, timeoutMs }: ViewOptions<T> = {},
): View<T> {
  const [{ failures, ...shown }, setShown] = useState<ViewState<T>>(() => beginWith(first));
  const running = useRef<AbortController | undefined>(undefined);
  const goodAt = useRef<number | undefined>(first === undefined ? undefined : serverNow());
  const reader = useMemo<{ retry: Reader['retry'] }>(() => ({ retry: () => undefined }), []);
  const read = useCallback(
    (isNew: boolean) => {
      running.current?.abort();
      if (wanted === undefined) return;
      const own = new AbortController();
      const startedAt = serverNow();
      running.current = own;
      if (isNew) goodAt.current = undefined;
      setShown((before) =>
        isNew ? beginWith<T>(undefined) : { ...before, error: keepOutage(before.error), isLoading: true },
      );
      wanted.read({ signal: own.signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) }).then(
        (data) => {
          if (running.current !== own) return;
          takeClock(data);
          goodAt.current = serverNow();
          noteAnswer(reader);
          setShown({ data, error: undefined, isLoading: false, readAt: goodAt.current, failures: 0 });
        },
        (thrown: unknown) => {
          if (running.current !== own || own.signal.aborted) return;
          const error = asApiError(thrown);
          // a server that starts answers with errors first, and is not back yet
          const isOut = isOutage(error) && (!isProbe || error.status === 0 || currentOutage() !== undefined);
          const { status } = error;
          if (isOut) noteFailure(reader, { status, startedAt, goodAt: isProbe ? undefined : goodAt.current });
          else noteAnswer(reader);
          setShown((before) => ({ ...before, error, isLoading: false, failures: isOut ? before.failures + 1 : 0 }));
        },
      );
    },
    [wanted?.key],
  );
  const hasFirst = useRef(first !== undefined);
  useEffect(() => {
    if (!hasFirst.current) read(true);
    hasFirst.current = false;
    return () => {
      running.current?.abort();
      forgetReader(reader);
    };
  }, [read]);
  const refresh = useCallback(() => read(false), [read]);
  reader.retry = refresh;
  useLive(topics, refresh);
  useRetry(shown.isLoading ? 0 : failures, refresh);
  return { ...shown, refresh };
}

function beginWith<T>(first: T | undefined): ViewState<T> {
  const readAt = first === undefined ? undefined : serverNow();
  return { data: first, error: undefined, isLoading: first === undefined, readAt, failures: 0 };
}

/** The page goes on saying that the server is gone while it is asked again. */
function keepOutage(error: ApiError | undefined): ApiError | undefined {
  return error !== undefined && isOutage(error) ? error : undefined;
}

/** Many answers have the time of the service. */
function takeClock(data: unknown): void {
  if (typeof data === 'object' && data !== null && 'now' in data && typeof data.now === 'number')
    setServerClock(data.now);
}

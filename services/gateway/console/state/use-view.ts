import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Topic } from '../api/stream.ts';
import { ApiError, api } from './api.ts';
import { useLive } from './live.ts';
import { setServerClock } from './server-clock.ts';

export interface View<T> {
  /** What was read last; undefined: nothing yet. */
  readonly data: T | undefined;
  /** Why the last read failed; undefined: it did not. */
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** Reads again. */
  readonly refresh: () => void;
}

/**
 * Reads a view of the API, and again when one of its topics changes. A new path begins anew; what an older read answers
 * later is dropped.
 */
export function useView<T>(path: string | undefined, topics: readonly Topic[] = []): View<T> {
  const [shown, setShown] = useState<Omit<View<T>, 'refresh'>>({ data: undefined, error: undefined, isLoading: true });
  const running = useRef<AbortController | undefined>(undefined);
  const read = useCallback(
    (isNew: boolean) => {
      running.current?.abort();
      if (path === undefined) return;
      const own = new AbortController();
      running.current = own;
      setShown((before) => ({ data: isNew ? undefined : before.data, error: undefined, isLoading: true }));
      api<T>(path, { signal: own.signal }).then(
        (data) => {
          if (running.current !== own) return;
          takeClock(data);
          setShown({ data, error: undefined, isLoading: false });
        },
        (error: unknown) => {
          if (running.current !== own || own.signal.aborted) return;
          setShown((before) => ({ data: before.data, error: asApiError(error), isLoading: false }));
        },
      );
    },
    [path],
  );
  useEffect(() => {
    read(true);
    return () => running.current?.abort();
  }, [read]);
  const refresh = useCallback(() => {
    read(false);
  }, [read]);
  useLive(topics, refresh);
  return { ...shown, refresh };
}

/** Many answers have the time of the service. */
function takeClock(data: unknown): void {
  if (typeof data === 'object' && data !== null && 'now' in data && typeof data.now === 'number')
    setServerClock(data.now);
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError
    ? error
    : new ApiError(error instanceof Error ? error.message : String(error), {
        status: 0,
        code: 'failed',
        field: undefined,
        requestId: undefined,
      });
}

import { useState } from 'preact/hooks';
import { api, asApiError } from './api.ts';
import type { ApiError } from './api.ts';

export interface ActState<T, Args extends readonly unknown[]> {
  readonly isBusy: boolean;
  /** The reason for which the last one was refused; undefined if it was not. */
  readonly fault: ApiError | undefined;
  /** Sends it. While the first one runs, a second one is dropped. */
  readonly act: (...args: Args) => void;
  readonly forget: () => void;
  /** The last answer, or undefined before the first one. */
  readonly answer: T | undefined;
}

/** Sends a request, once for any number of clicks. */
export function useSending<T, Args extends readonly unknown[]>(
  send: (...args: Args) => Promise<T>,
  onDone: (answer: T) => void = () => undefined,
): ActState<T, Args> {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const [answer, setAnswer] = useState<T | undefined>(undefined);
  const sendOnce = async (args: Args): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      const received = await send(...args);
      setAnswer(() => received);
      onDone(received);
    } catch (error) {
      setFault(asApiError(error));
    } finally {
      setBusy(false);
    }
  };
  return {
    isBusy,
    fault,
    answer,
    act: (...args) => {
      if (!isBusy) void sendOnce(args);
    },
    forget: () => {
      setFault(undefined);
      setAnswer(undefined);
    },
  };
}

/** Carries out an act at a path of the API. */
export function useAct<T>(
  onDone?: (answer: T) => void,
): ActState<T, [path: string, body?: object, method?: 'POST' | 'DELETE']> {
  return useSending(
    (path, body = {}, method = 'POST') => api<T>(path, method === 'POST' ? { method, body } : { method }),
    onDone,
  );
}

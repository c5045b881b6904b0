import { useState } from 'preact/hooks';
import { ApiError, api } from './api.ts';

export interface ActState<T> {
  readonly isBusy: boolean;
  /** The reason for which the last one was refused; undefined if it was not. */
  readonly fault: ApiError | undefined;
  /** Sends it. While the first one runs, a second one is dropped. */
  readonly act: (path: string, body?: object, method?: 'POST' | 'DELETE') => void;
  readonly forget: () => void;
  /** Undefined: nothing was done yet. */
  readonly answer: T | undefined;
}

/** Carries out an act at the API, once for any number of clicks. */
export function useAct<T>(onDone: (answer: T) => void = () => undefined): ActState<T> {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const [answer, setAnswer] = useState<T | undefined>(undefined);
  const send = async (path: string, body: object, method: 'POST' | 'DELETE'): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      const told = await api<T>(path, method === 'POST' ? { method, body } : { method });
      setAnswer(() => told);
      onDone(told);
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
    act: (path, body = {}, method = 'POST') => {
      if (!isBusy) void send(path, body, method);
    },
    forget: () => {
      setFault(undefined);
      setAnswer(undefined);
    },
  };
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const about = { status: 0, code: 'failed', field: undefined, requestId: undefined };
  return new ApiError(error instanceof Error ? error.message : String(error), about);
}

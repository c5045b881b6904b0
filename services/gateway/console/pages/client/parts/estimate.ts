import { useEffect, useState } from 'preact/hooks';
import { ApiError, api } from '../../../state/api.ts';

/** The answer of `POST /v1/videos/estimate`. */
export interface Estimate {
  readonly amount: string;
  readonly currency: string;
  readonly facts: Readonly<Record<string, number>>;
}

const QUIET_MS = 400;
const PATH = '/v1/videos/estimate?path=/v1/video/generations';

export interface FreshEstimate {
  /** The price of the order as it is, or as it was just before. */
  readonly estimate: Estimate | undefined;
  readonly fault: ApiError | undefined;
  /** True while the price of the order as it is has not come yet. */
  readonly isStale: boolean;
}

/** Keeps the price of an order fresh: it asks after a while without changes, and drops late answers. */
export function useEstimate(body: object | undefined): FreshEstimate {
  const [shown, setShown] = useState<FreshEstimate>({ estimate: undefined, fault: undefined, isStale: true });
  const text = body === undefined ? '' : JSON.stringify(body);
  useEffect(() => {
    setShown((before) => ({ ...before, isStale: true }));
    if (text === '') return undefined;
    const asked = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const estimate = await api<Estimate>(PATH, {
          method: 'POST',
          body: JSON.parse(text) as object,
          signal: asked.signal,
        });
        if (!asked.signal.aborted) setShown({ estimate, fault: undefined, isStale: false });
      } catch (error) {
        if (asked.signal.aborted) return;
        const fault = error instanceof ApiError ? error : undefined;
        setShown({ estimate: undefined, fault, isStale: false });
      }
    };
    const timer = setTimeout(() => void ask(), QUIET_MS);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [text]);
  return shown;
}

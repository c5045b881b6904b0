import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../../state/api.ts';
import { sendCall } from '../../../state/calls.ts';
import { decide } from './attention-rows.ts';
import type { MadeDecision, WantedDecision } from './attention-rows.ts';

/** The outcome of one entry. `failed`: it is unknown whether it was decided; the same decision again finds out. */
export type BatchResult =
  | { readonly kind: 'decided'; readonly answer: MadeDecision }
  | { readonly kind: 'refused' | 'failed'; readonly why: string };

export interface BatchRun {
  readonly ids: readonly string[];
  readonly decision: WantedDecision;
  /** By entry. One without a result was not sent. */
  readonly results: ReadonlyMap<string, BatchResult>;
  readonly isRunning: boolean;
}

export interface Batch {
  /** Undefined before the first batch. */
  readonly run: BatchRun | undefined;
  readonly begin: (ids: readonly string[], decision: WantedDecision) => void;
  /** Sends again what has failed or was not sent. */
  readonly tryRest: () => void;
  /** The entry that is being sent still ends. */
  readonly stop: () => void;
  readonly forget: () => void;
}

const FORBIDDEN = 403;
const FAULTS_FROM = 500;

/**
 * Decides over entries one after the other, each by a request of its own, so that each is booked and recorded alone. It
 * stops where the service cannot be reached or the visitor may not decide. What was not sent still waits in the queue.
 */
export function useBatch(onDecided: (id: string, answer: MadeDecision) => void, onEnd: (run: BatchRun) => void): Batch {
  const [run, setRun] = useState<BatchRun | undefined>(undefined);
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );
  useWarning(run?.isRunning === true);
  const send = async (begun: BatchRun): Promise<void> => {
    const results = new Map([...begun.results].filter(([, { kind }]) => kind !== 'failed'));
    const state = (isRunning: boolean): BatchRun => ({ ...begun, results: new Map(results), isRunning });
    isStopped.current = false;
    setRun(state(true));
    for (const id of begun.ids.filter((one) => !results.has(one))) {
      if (isStopped.current) break;
      const { result, isLast } = await decideOne(id, begun.decision);
      results.set(id, result);
      if (result.kind === 'decided') onDecided(id, result.answer);
      setRun(state(true));
      if (isLast) break;
    }
    setRun(state(false));
    onEnd(state(false));
  };
  return {
    run,
    begin: (ids, decision) => {
      if (run?.isRunning !== true) void send({ ids, decision, results: new Map(), isRunning: true });
    },
    tryRest: () => {
      if (run?.isRunning === false) void send(run);
    },
    stop: () => {
      isStopped.current = true;
    },
    forget: () => {
      if (run?.isRunning !== true) setRun(undefined);
    },
  };
}

/** The entries of a run that can be sent again. */
export function listRest({ ids, results }: BatchRun): readonly string[] {
  return ids.filter((id) => (results.get(id)?.kind ?? 'failed') === 'failed');
}

async function decideOne(id: string, decision: WantedDecision): Promise<{ result: BatchResult; isLast: boolean }> {
  try {
    return { result: { kind: 'decided', answer: await decide(sendCall, id, decision) }, isLast: false };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const status = error instanceof ApiError ? error.status : 0;
    const isAnswer = status > 0 && status < FAULTS_FROM;
    // neither a session that has ended nor a role that is too low becomes better with the next entry
    return {
      result: { kind: isAnswer ? 'refused' : 'failed', why },
      isLast: !isAnswer || status === FORBIDDEN || status === 401,
    };
  }
}

/** Lets the browser ask before the tab is closed. */
function useWarning(isRunning: boolean): void {
  useEffect(() => {
    if (!isRunning) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isRunning]);
}

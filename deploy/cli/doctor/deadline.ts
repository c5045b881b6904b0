import type { Clock } from '@reelgate/platform/clock';

/** The longest time of the whole command, from the start of its process to its exit. */
export const DOCTOR_MS_MAX = 10_000;
/**
 * For npm before the process, and for the last lines and the exit after the questions. On an idle machine they take 0.4 s,
 * and 1.6 s where other programs use its two processors three times over.
 */
const AROUND_MS = 2000;
/** A call outlives its question by this time, so that the question can report a missing answer. */
const CALL_LONGER_MS = 200;
/** With less time left, a missing answer is no evidence. */
export const ENOUGH_MS = 2000;

/** The moment at which the questions end. The time of every question and call comes from it. */
export interface Deadline {
  readonly clock: Clock;
  /** Returns how long a question that begins now may wait. */
  leftMs(): number;
  /** Returns how long a call that begins now may take. */
  callMs(): number;
}

/** `begunAt` is when the command began: its process, or the process that started it. */
export function newDeadline(clock: Clock, begunAt: number): Deadline {
  const questionsMs = DOCTOR_MS_MAX - AROUND_MS;
  // A clock that was set back does not add time.
  const leftMs = (): number => Math.max(0, Math.min(questionsMs, begunAt + questionsMs - clock.now()));
  return { clock, leftMs, callMs: () => leftMs() + CALL_LONGER_MS };
}

/** Returns the answer, or its substitute at the deadline. The signal is aborted as soon as either is there. */
export function awaitAnswer<T>(
  deadline: Deadline,
  ask: (signal: AbortSignal) => Promise<T>,
  otherwise: (waitedMs: number) => T,
): Promise<T> {
  return awaitFor(deadline.clock, deadline.leftMs(), ask, otherwise);
}

/** Returns the answer, or its substitute after `ms`. The signal is aborted as soon as either is there. */
export async function awaitFor<T>(
  clock: Clock,
  ms: number,
  ask: (signal: AbortSignal) => Promise<T>,
  otherwise: (waitedMs: number) => T,
): Promise<T> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => ({ answer: undefined }));
  try {
    const first = await Promise.race([ask(over.signal).then((answer) => ({ answer: { value: answer } })), late]);
    return first.answer === undefined ? otherwise(ms) : first.answer.value;
  } finally {
    over.abort();
  }
}

export function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

import { systemClock } from './clock.ts';
import type { TimeSource } from './clock.ts';

/** The deadline of a call, in milliseconds since 1970, and the clock that it is read by. */
interface PassedDeadline {
  readonly at: number;
  readonly clock: TimeSource;
}

/** The deadlines by the signal of the call. */
const deadlines = new WeakMap<AbortSignal, PassedDeadline>();

export function recordDeadline(signal: AbortSignal, deadline: number, clock: TimeSource = systemClock): void {
  if (deadline !== Infinity) deadlines.set(signal, { at: deadline, clock });
}

/**
 * Computes the deadline of a call with the signal of another call: after `timeoutMs`, and at the deadline of the other
 * call at the latest. Returns undefined if neither limits it.
 */
export function computeDeadline(
  signal: AbortSignal | undefined,
  timeoutMs: number | undefined,
  clock: TimeSource = systemClock,
): number | undefined {
  const passed = signal === undefined ? undefined : deadlines.get(signal)?.at;
  if (timeoutMs === undefined) return passed;
  return Math.min(clock.now() + timeoutMs, passed ?? Infinity);
}

/** An answer is on its way for less time. */
const ANSWER_MS = 500;
/** A shorter time is no evidence about the work: a process that was busy itself reaches the call late. */
const WORK_MS_MIN = 1000;

/**
 * Returns the time that the work for a call may take, so that its answer arrives before the deadline of the call: at
 * most `msMax`. If the deadline is too near for any work, the caller leaves first.
 */
export function workMsWithin(signal: AbortSignal | undefined, msMax: number): number {
  const deadline = signal === undefined ? undefined : deadlines.get(signal);
  if (deadline === undefined) return msMax;
  return Math.min(msMax, Math.max(WORK_MS_MIN, deadline.at - deadline.clock.now() - ANSWER_MS));
}

/** Returns a signal that is aborted when either of the two is. It carries the deadline of the call's signal. */
export function combineSignals(call: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  if (call === undefined) return other;
  const either = AbortSignal.any([call, other]);
  const passed = deadlines.get(call);
  if (passed !== undefined) deadlines.set(either, passed);
  return either;
}

import { DEFAULT_ENDPOINT } from '../webhook.ts';
import type { Attempt, Delivery, DeliveryState, DisabledReason, Health } from '../webhook.ts';
import { afterAttempt, isAccepted, isGone } from './delivery-schedule.ts';

/** From this many failures in a row a receiver gets one delivery at a time, after a wait. */
export const FAILURES_MAX = 5;
const WAIT_FIRST_MS = 5000;
const WAIT_MAX_MS = 60_000;
/** Bounds the power of two; the wait reaches its maximum long before. */
const DOUBLINGS_MAX = 10;
/** An endpoint that answers with failures alone for this long is disabled. */
export const FAILING_MAX_MS = 5 * 24 * 3_600_000;

export function afterSuccess({ lastFailureAt }: Health, at: number): Health {
  return { failures: 0, lastSuccessAt: at, lastFailureAt };
}

/** The circuit opens with the fifth failure in a row, and for longer with each further one. */
export function afterFailure({ failures, failingSince = Infinity, lastSuccessAt }: Health, at: number): Health {
  const count = failures + 1;
  return {
    failures: count,
    // The clock may have been set back.
    failingSince: Math.min(failingSince, at),
    openUntil: count < FAILURES_MAX ? undefined : at + waitAfter(count),
    lastSuccessAt,
    lastFailureAt: at,
  };
}

function waitAfter(failures: number): number {
  return Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** Math.min(failures - FAILURES_MAX, DOUBLINGS_MAX));
}

export function hasFailedTooLong({ failures, failingSince = Infinity }: Health, at: number): boolean {
  return failures >= FAILURES_MAX && at - failingSince >= FAILING_MAX_MS;
}

/** An attempt as its worker reports it. */
export interface MadeAttempt {
  readonly deliveryId: string;
  readonly attempt: Attempt;
  /** The time in milliseconds for which the receiver asks to wait; 0 if it does not say. */
  readonly retryAfterMs: number;
  /** The count of the circuit when it began. Undefined if the worker does not report it. */
  readonly circuit?: number | undefined;
}

/** An attempt and its consequences for its delivery. */
export interface JudgedAttempt {
  readonly deliveryId: string;
  readonly attempt: Attempt;
  readonly state: DeliveryState;
  /** The time at which the next attempt is due, if the state is pending. */
  readonly dueAt?: number | undefined;
}

interface ReceiverCircuit {
  readonly health: Health;
  /** Grows with each failure that is counted, and with a success after failures. */
  readonly circuit: number;
}

export interface JudgedReceiver extends ReceiverCircuit {
  readonly endpointId: string;
}

export interface Judgement {
  readonly attempts: readonly JudgedAttempt[];
  readonly health: Health;
  /** The count of the circuit after the attempts. */
  readonly circuit: number;
  /** The receiver answers again after failures, so its waiting deliveries are due at once. */
  readonly hasRecovered: boolean;
  readonly disable?: DisabledReason | undefined;
}

/**
 * Decides on the attempts under one lease, in the order in which they ended. A known attempt, or an attempt of a
 * delivery that has ended, has no effect. If the URL of a request is gone, the other URLs of its origin are not
 * affected. Of failures that were under way together only the first counts, because the others began before it.
 */
export function judgeAttempts(
  { endpointId, health: before, circuit: count }: JudgedReceiver,
  deliveries: ReadonlyMap<string, Delivery>,
  made: readonly MadeAttempt[],
  { now, chance }: { readonly now: number; readonly chance: () => number },
): Judgement {
  const isDefault = endpointId === DEFAULT_ENDPOINT;
  const current = new Map(deliveries);
  const judged: JudgedAttempt[] = [];
  let health = before;
  let circuit = count;
  let isDisabledAsGone = false;
  for (const { deliveryId, attempt, retryAfterMs, circuit: begun = circuit } of made) {
    const delivery = current.get(deliveryId);
    if (delivery?.state !== 'pending' || attempt.number !== delivery.attempts + 1) continue;
    const answer = { status: attempt.status, error: attempt.error, retryAfterMs };
    const next = afterAttempt({ ...delivery, attempts: attempt.number }, answer, { now, chance: chance() });
    current.set(deliveryId, { ...delivery, ...next, attempts: attempt.number });
    judged.push({ deliveryId, attempt, ...next });
    const isGoneNow = isGone(answer);
    const from = isDefault && isGoneNow ? -1 : begun;
    ({ health, circuit } = noteAnswer({ health, circuit }, { isSuccess: isAccepted(answer), begun: from }, now));
    isDisabledAsGone ||= !isDefault && isGoneNow;
  }
  return {
    attempts: judged,
    health,
    circuit,
    hasRecovered: before.failures > 0 && health.failures === 0,
    disable: isDefault ? undefined : reasonToDisable(isDisabledAsGone, health, now),
  };
}

/** `begun`: the count of the circuit when the attempt began. A failure that began at an earlier one is not counted. */
function noteAnswer(
  { health, circuit }: ReceiverCircuit,
  { isSuccess, begun }: { readonly isSuccess: boolean; readonly begun: number },
  now: number,
): ReceiverCircuit {
  if (isSuccess) return { health: afterSuccess(health, now), circuit: health.failures > 0 ? circuit + 1 : circuit };
  if (begun < circuit) return { health: { ...health, lastFailureAt: now }, circuit };
  return { health: afterFailure(health, now), circuit: begun + 1 };
}

function reasonToDisable(isGoneNow: boolean, health: Health, now: number): DisabledReason | undefined {
  if (isGoneNow) return 'gone';
  return hasFailedTooLong(health, now) ? 'failing' : undefined;
}

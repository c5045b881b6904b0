import { expect } from '@jest/globals';
import { Problem } from '../src/problem.ts';
import type { ProblemInit, ProblemKind } from '../src/problem.ts';
import { inTime } from './bounded-waits.ts';

const KINDS: Readonly<Record<ProblemKind, true>> = {
  invalid: true,
  unauthenticated: true,
  forbidden: true,
  not_found: true,
  conflict: true,
  exhausted: true,
  unprocessable: true,
  gone: true,
  unavailable: true,
  internal: true,
};
export const EVERY_KIND = Object.keys(KINDS) as readonly ProblemKind[];

/** The fields of a Problem, for comparison. */
export const readFields = ({ kind, reason, message, field, retryAfterMs }: Problem): ProblemInit => ({
  kind,
  reason,
  message,
  field,
  retryAfterMs,
});

/** The Problem with which a call rejects. Any other outcome fails the test. */
export async function catchRefusal(call: Promise<unknown>): Promise<Problem> {
  const thrown: unknown = await inTime(
    call.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  expect(thrown).toBeInstanceOf(Problem);
  return thrown as Problem;
}

/** The same as {@link catchRefusal}, by the fields that a client sees. */
export async function catchRefusalFields(call: Promise<unknown>): Promise<ProblemInit> {
  return readFields(await catchRefusal(call));
}

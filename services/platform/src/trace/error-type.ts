import { CallEnded } from '../call-ended.ts';
import { isProblem } from '../problem.ts';

/** A stable word for what was thrown: the reason of a refusal, why a call ended too early, or `fault`. */
export function readErrorType(thrown: unknown): string {
  if (isProblem(thrown)) return thrown.reason;
  return thrown instanceof CallEnded ? thrown.why : 'fault';
}

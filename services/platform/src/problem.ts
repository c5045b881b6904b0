/** The family of a refusal; it decides the gRPC and the HTTP status. */
export type ProblemKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'exhausted'
  | 'unprocessable'
  | 'gone'
  | 'unavailable'
  | 'internal';

export interface ProblemInit {
  readonly kind: ProblemKind;
  /** A stable word for programs; once published it keeps its meaning. */
  readonly reason: string;
  /** What was wrong and what would be right, safe to show. With a field, the sentence goes on from the field's name. */
  readonly message: string;
  readonly field?: string | undefined;
  /** When a repeat can succeed. A refusal of the kind `unavailable` that names it says that nothing was begun. */
  readonly retryAfterMs?: number | undefined;
  /** For the log alone. */
  readonly cause?: unknown;
}

/** The one way to refuse. Anything else that is thrown is a fault of ours. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: ProblemKind;
  readonly reason: string;
  readonly field: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(init: ProblemInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.kind = init.kind;
    this.reason = init.reason;
    this.field = init.field;
    this.retryAfterMs = init.retryAfterMs;
  }
}

export function isProblem(thrown: unknown, reason?: string): thrown is Problem {
  return thrown instanceof Problem && (reason === undefined || thrown.reason === reason);
}

/** The family of a refusal. It decides the gRPC and the HTTP status. */
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
  /** A stable code for programs. A published code keeps its meaning. */
  readonly reason: string;
  /**
   * The fault and the expected value, safe to show to clients. If the problem has a field, the message continues the
   * name of the field.
   */
  readonly message: string;
  readonly field?: string | undefined;
  /**
   * The time after which a repeat can succeed. On a refusal of the kind `unavailable` it also means that no work was
   * begun.
   */
  readonly retryAfterMs?: number | undefined;
  /** Facts of the refusal for programs, by name, such as an amount. Safe to show to clients. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** For the log alone. */
  readonly cause?: unknown;
}

/** A refusal. Any other error is an internal fault. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: ProblemKind;
  readonly reason: string;
  readonly field: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;

  constructor(init: ProblemInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.kind = init.kind;
    this.reason = init.reason;
    this.field = init.field;
    this.retryAfterMs = init.retryAfterMs;
    this.metadata = init.metadata;
  }
}

export function isProblem(thrown: unknown, reason?: string): thrown is Problem {
  return thrown instanceof Problem && (reason === undefined || thrown.reason === reason);
}

/**
 * The call ended before its method did: at its deadline, or because its caller left. This is neither a fault nor a
 * refusal.
 */
export class CallEnded extends Error {
  override readonly name = 'CallEnded';
  readonly why: 'deadline_exceeded' | 'cancelled';

  constructor(why: CallEnded['why'], cause?: unknown) {
    super(
      why === 'cancelled' ? 'the caller left' : 'the deadline of the call has passed',
      cause === undefined ? undefined : { cause },
    );
    this.why = why;
  }
}

/** Returns a stable word for a thrown value: the reason of a refusal, the cause of an early end, or `fault`. */
export function readErrorType(thrown: unknown): string {
  if (isProblem(thrown)) return thrown.reason;
  return thrown instanceof CallEnded ? thrown.why : 'fault';
}

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { Kind, ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { Problem } from '../problem.ts';
import type { ProblemKind } from '../problem.ts';

const CODES: Readonly<Record<ProblemKind, Code>> = {
  invalid: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  not_found: Code.NotFound,
  conflict: Code.FailedPrecondition,
  exhausted: Code.ResourceExhausted,
  unprocessable: Code.InvalidArgument,
  gone: Code.NotFound,
  unavailable: Code.Unavailable,
  internal: Code.Internal,
};

const KINDS: Readonly<Record<ProblemKind, Kind>> = {
  invalid: Kind.INVALID,
  unauthenticated: Kind.UNAUTHENTICATED,
  forbidden: Kind.FORBIDDEN,
  not_found: Kind.NOT_FOUND,
  conflict: Kind.CONFLICT,
  exhausted: Kind.EXHAUSTED,
  unprocessable: Kind.UNPROCESSABLE,
  gone: Kind.GONE,
  unavailable: Kind.UNAVAILABLE,
  internal: Kind.INTERNAL,
};

const KIND_NAMES = new Map(Object.entries(KINDS).map(([name, kind]) => [kind, name as ProblemKind]));

/** A Problem as a status with its detail; anything else as `internal`, without a word of what it was. */
export function toConnectError(thrown: unknown): ConnectError {
  const problem = thrown instanceof Problem ? thrown : new Problem({ kind: 'internal', reason: 'internal_error', message: 'something went wrong here', cause: thrown });
  const detail = create(ProblemSchema, {
    kind: KINDS[problem.kind], reason: problem.reason, message: problem.message, field: problem.field ?? '', retryAfterMs: BigInt(problem.retryAfterMs ?? 0),
  });
  return new ConnectError(problem.message, CODES[problem.kind], undefined, [{ desc: ProblemSchema, value: detail }]);
}

/** The Problem that a status carries; a status without one says that the other side could not be used. */
export function fromConnectError(error: ConnectError): Problem {
  const [detail] = error.findDetails(ProblemSchema);
  if (detail === undefined) {
    return new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'a part of the service cannot be reached; try again', cause: error });
  }
  return new Problem({
    kind: KIND_NAMES.get(detail.kind) ?? 'internal', reason: detail.reason, message: detail.message, cause: error,
    field: detail.field === '' ? undefined : detail.field, retryAfterMs: detail.retryAfterMs === 0n ? undefined : Number(detail.retryAfterMs),
  });
}

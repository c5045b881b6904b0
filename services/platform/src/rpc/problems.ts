import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { findTrailerError, headerGrpcStatus, setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { Kind, ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import type { Problem as WireProblem } from '@reelgate/proto/problem/v1/problem';
import { Problem, CallEnded, isProblem } from '../problem.ts';
import type { ProblemKind } from '../problem.ts';
import { nothingBegun, serviceUnavailable } from '../service-unavailable.ts';
import { StoreUnavailable } from '../sql/sql.ts';
import { deriveValues, deriveWords } from './enum-words.ts';
import { BadRequestSchema, ErrorInfoSchema, QuotaFailureSchema, RetryInfoSchema } from './error-details-descriptor.ts';
import { toMessage } from './whole-message.ts';

const DOMAIN = 'reelgate';
/** The limit of Google's API guide. */
const REASON_LENGTH_MAX = 63;
/** With these limits the details fit into the trailer together with the longest Problem. */
const DESCRIPTION_LENGTH_MAX = 500;

const TEXT_LENGTH_MAX = 2000;

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

const ENDED_CODES: Readonly<Record<CallEnded['why'], Code>> = {
  deadline_exceeded: Code.DeadlineExceeded,
  cancelled: Code.Canceled,
};

const KINDS = deriveValues(Kind);
const KIND_WORDS: Readonly<Record<number, ProblemKind | undefined>> = deriveWords(Kind);

/**
 * Reports whether an error is a fault of this service, for the log. A refusal is not a fault, nor is the error of a
 * call that its caller has left.
 */
export function isFault(thrown: unknown): boolean {
  return !(thrown instanceof Problem) && !(thrown instanceof CallEnded);
}

/**
 * Turns an error into a Problem. A Problem stays as it is. A call that ended too early or an unavailable store becomes
 * `service_unavailable`. Any other error becomes `internal`, without details.
 */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof CallEnded) return serviceUnavailable(thrown);
  if (thrown instanceof StoreUnavailable)
    return thrown.maybeWritten ? serviceUnavailable(thrown) : nothingBegun(thrown);
  return thrown instanceof Problem
    ? thrown
    : new Problem({
        kind: 'internal',
        reason: 'internal_error',
        message: 'something went wrong here',
        cause: thrown,
      });
}

/** The code of the status of an error. */
export function toStatusCode(thrown: unknown): Code {
  return thrown instanceof CallEnded ? ENDED_CODES[thrown.why] : CODES[toProblem(thrown).kind];
}

/**
 * Returns the status of an error with its details, the Problem first. Many clients show only the status, so its message
 * names the field too.
 */
export function toConnectError(thrown: unknown): ConnectError {
  if (thrown instanceof CallEnded) return new ConnectError(thrown.message, ENDED_CODES[thrown.why]);
  const problem = toProblem(thrown);
  const detail = toWireProblem(problem);
  return new ConnectError(statusMessage(problem), CODES[problem.kind], undefined, [
    { desc: ProblemSchema, value: detail },
    ...toErrorDetails(problem),
  ]);
}

/** The message with its subject: the message of a Problem continues the name of its field. */
function statusMessage({ field, message }: Problem): string {
  return toSendableText(field === undefined || field === '' ? message : `${field} ${message}`);
}

/** A refusal as a message: the detail of a status, or one result among several. */
export function toWireProblem(problem: Problem): WireProblem {
  const { kind, reason, message, field = '', retryAfterMs = 0, metadata = {} } = problem;
  return toMessage(ProblemSchema, {
    kind: KINDS[kind],
    reason: toSendableText(reason),
    message: toSendableText(message),
    field: toSendableText(field),
    retryAfterMs: BigInt(Math.ceil(retryAfterMs)),
    metadata: { ...metadata },
  });
}

/**
 * Cuts a text so that three such texts fit into a trailer, and replaces malformed characters. Otherwise the answer
 * could not be sent.
 */
function toSendableText(text: string): string {
  return (text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text).toWellFormed();
}

/** The Problem of a status. A status without one means that the peer is unavailable. */
export function fromConnectError(error: ConnectError): Problem {
  const [detail] = error.findDetails(ProblemSchema);
  return detail === undefined ? serviceUnavailable(error) : fromWireProblem(detail, error);
}

export function fromWireProblem(problem: WireProblem, cause?: unknown): Problem {
  const { kind, reason, message, field, retryAfterMs, metadata } = problem;
  return new Problem({
    kind: KIND_WORDS[kind] ?? 'internal',
    reason,
    message,
    cause,
    field: field === '' ? undefined : field,
    retryAfterMs: retryAfterMs === 0n ? undefined : Number(retryAfterMs),
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  });
}

type Detail = Extract<ConnectError['details'][number], { readonly desc: unknown }>;

/** Converts a refusal into the standard messages of `google.rpc`, for clients that do not know Problem. */
function toErrorDetails(problem: Problem): readonly Detail[] {
  const { kind, reason, message, field = '', retryAfterMs = 0, metadata = {} } = problem;
  const code = cut(reason, REASON_LENGTH_MAX).toUpperCase();
  const description = cut(message, DESCRIPTION_LENGTH_MAX);
  const details: Detail[] = [
    { desc: ErrorInfoSchema, value: { reason: code, domain: DOMAIN, metadata: { ...metadata } } },
  ];
  if (field !== '') {
    const violation = { field: cut(field, DESCRIPTION_LENGTH_MAX), description, reason: code };
    details.push({ desc: BadRequestSchema, value: { fieldViolations: [violation] } });
  }
  if (retryAfterMs > 0)
    details.push({ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(Math.ceil(retryAfterMs)) } });
  if (kind === 'exhausted')
    details.push({ desc: QuotaFailureSchema, value: { violations: [{ subject: `${DOMAIN}:${code}`, description }] } });
  return details;
}

function cut(text: string, max: number): string {
  return text.slice(0, max).toWellFormed();
}

/** The status of a call that its method did not give. An answer of the method itself has details. */
export function findBareStatus(error: unknown): ConnectError | undefined {
  if (!isProblem(error, 'service_unavailable')) return undefined;
  const { cause } = error as Error;
  return cause instanceof ConnectError && cause.details.length === 0 ? cause : undefined;
}

const DETAILS = 'grpc-status-details-bin';

/** The binary `google.rpc.Status` of an error, with its details. */
export function encodeStatusDetails(error: ConnectError): Buffer {
  const trailer = new Headers();
  setTrailerStatus(trailer, error);
  return Buffer.from(trailer.get(DETAILS) ?? '', 'base64');
}

/** Decodes a binary `google.rpc.Status`. */
export function decodeStatus(code: number, message: string, details: Buffer | undefined): ConnectError | undefined {
  const trailer = new Headers({ [headerGrpcStatus]: String(code), 'grpc-message': encodeURIComponent(message) });
  if (details !== undefined) trailer.set(DETAILS, details.toString('base64').replace(/=+$/, ''));
  return findTrailerError(trailer);
}

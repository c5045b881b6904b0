import { Problem } from '@reelgate/platform/problem';
import { nothingBegun } from '@reelgate/platform/service-unavailable';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { chooseEnvelope, enclose, fitRow } from '../problems/envelopes.ts';
import { findErrorRow, isUncertain } from '../problems/error-table.ts';
import type { ErrorRow } from '../problems/error-table.ts';
import { detectClientFamily } from './client-family.ts';
import type { ClientFamily } from './client-family.ts';
import type { Exchange } from './http-exchange.ts';
import { refuse } from '../refusals.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface RefusalContext {
  readonly path: string;
  /** The family of the client, if the path does not determine it. */
  readonly family?: ClientFamily | undefined;
  readonly requestId: string;
  readonly submitted?: boolean;
}

/** Writes a refusal to the response, in the envelope of the client's family. */
export function answerProblem(exchange: Exchange, problem: Problem): void {
  const { status, headers, body } = toAnswer(problem, {
    path: exchange.path,
    family: detectClientFamily(exchange),
    requestId: exchange.state.requestId,
    submitted: exchange.state.submitted === true,
  });
  exchange.state.reason = problem.reason;
  exchange.status = status;
  exchange.set(headers);
  exchange.body = body;
}

/** Turns a refusal into an answer, in the envelope of the client's family. */
export function toAnswer(problem: Problem, { path, family, requestId, submitted = false }: RefusalContext): Answer {
  const byPath = chooseEnvelope(path);
  const envelope = byPath === 'openai' ? (family ?? byPath) : byPath;
  const uncertain = submitted && isUncertain(problem);
  const row = fitRow(envelope, findErrorRow(problem), uncertain);
  return {
    status: row.status,
    headers: { ...row.headers, ...buildRetryHeaders(row, problem, uncertain) },
    body: enclose(envelope, {
      row,
      requestId,
      code: row.code ?? problem.reason,
      param: problem.field,
      metadata: problem.metadata,
      message: problem.field === undefined ? problem.message : `${problem.field} ${problem.message}`,
    }),
  };
}

/** Refusals between our own services. A client cannot act on them, so it gets an internal error instead. */
const OURS: ReadonlySet<string> = new Set(['invalid_caller_key', 'account_not_allowed']);

/** Converts a thrown value into a Problem. An unexpected error becomes an internal error without details. */
export function toProblem(thrown: unknown): Problem {
  // thrown by a service that runs in this process
  if (thrown instanceof StoreUnavailable) return nothingBegun(thrown);
  return thrown instanceof Problem && !OURS.has(thrown.reason)
    ? thrown
    : refuse('internal_error', {
        message: 'internal error; quote the x-request-id header when you report it',
        cause: thrown,
      });
}

/**
 * A create that was sent to the tasks service and then failed may still have taken effect. The client must not
 * repeat it, unless the failed service says that it did not start the work.
 */
function buildRetryHeaders(row: ErrorRow, problem: Problem, uncertain: boolean): Record<string, string> {
  const silent = uncertain || row.type === 'insufficient_quota';
  const seconds = silent ? undefined : (toWholeSeconds(problem.retryAfterMs) ?? row.retryAfterS);
  return {
    ...(row.final === true || uncertain ? { 'x-should-retry': 'false' } : {}),
    ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
  };
}

function toWholeSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.max(1, Math.ceil(ms / 1000));
}

import { isUtf8 } from 'node:buffer';
import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import type { Problem } from '@reelgate/platform/problem';
import { JobEncoding } from '@reelgate/proto/tasks/v1/job';
import { isJsonInTurns } from '../json-bytes/is-json.ts';
import { chooseEnvelope, enclose } from '../problems/envelopes.ts';
import { findErrorRow } from '../problems/error-table.ts';
import type { AnswerHeaders, CallSink } from '../relay/answers/call-sink.ts';

const MESSAGE_LENGTH_MAX = 2000;
const CODE = /^[\w.-]{1,100}$/;

export interface CollectedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** The reason for which a job has no answer, or an unsuccessful one. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

export interface CollectingSink extends CallSink {
  /** Aborted when the answer is longer than it may be. */
  readonly overflow: AbortSignal;
  answer(): CollectedAnswer;
}

/** Collects the answer of an asynchronous job, up to `bytesMax`. */
export function collectingSink(bytesMax: number): CollectingSink {
  const overflow = new AbortController();
  let head: { readonly status: number; readonly headers: AnswerHeaders } = { status: 0, headers: {} };
  let chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= bytesMax) {
      chunks.push(chunk);
      return;
    }
    chunks = [];
    overflow.abort();
  };
  return {
    overflow: overflow.signal,
    begin: (status, headers) => {
      head = { status, headers };
    },
    write: (chunk) => {
      take(chunk);
      return true;
    },
    onDrain: () => undefined,
    end: (chunk) => {
      if (chunk !== undefined) take(chunk);
    },
    broken: () => undefined,
    answer: () => ({
      status: head.status,
      contentType: String(head.headers['content-type'] ?? ''),
      body: Buffer.concat(chunks),
    }),
  };
}

/** Chooses the form of an answer in the job: JSON as JSON, text as text, anything else as base64. */
export async function chooseEncoding({ contentType, body }: CollectedAnswer): Promise<JobEncoding> {
  const type = contentType.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  if (body.length === 0) return JobEncoding.UNSPECIFIED;
  if (!isUtf8(body)) return JobEncoding.BASE64;
  if (/^application\/([\w.-]+\+)?json$/.test(type) && (await isJsonInTurns(body))) return JobEncoding.JSON;
  return type.startsWith('text/') ? JobEncoding.TEXT : JobEncoding.BASE64;
}

/** Reads the error of an unsuccessful answer, in any dialect. */
export function readFailure({ status, body }: CollectedAnswer): Failure {
  const error = readError(body);
  const code = [error['code'], error['status'], error['type']].find(
    (word) => typeof word === 'string' && CODE.test(word),
  );
  const message = error['message'];
  return {
    code: typeof code === 'string' ? code : 'request_failed',
    message:
      typeof message === 'string' && message !== ''
        ? message.slice(0, MESSAGE_LENGTH_MAX)
        : `the call was answered with status ${status}`,
  };
}

/** Converts a refusal to the answer that the synchronous route would have given. */
export function toRefusalAnswer(
  problem: Problem,
  { path, requestId }: { readonly path: string; readonly requestId: string },
): { readonly answer: CollectedAnswer; readonly failure: Failure } {
  const row = findErrorRow(problem);
  const message = problem.field === undefined ? problem.message : `${problem.field} ${problem.message}`;
  const failure = { code: row.code ?? problem.reason, message };
  const body = enclose(chooseEnvelope(path), { row, requestId, code: failure.code, param: problem.field, message });
  return {
    answer: { status: row.status, contentType: 'application/json', body: Buffer.from(JSON.stringify(body)) },
    failure,
  };
}

function readError(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const { error } = parseAnsweredJson(body) as { readonly error?: unknown };
    return typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

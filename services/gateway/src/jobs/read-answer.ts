import { isUtf8 } from 'node:buffer';
import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import type { Problem } from '@reelgate/platform/problem';
import type { JobEncoding, JobFailure, LeasedJob } from '../clients/jobs-client.ts';
import { isJsonInTurns } from '../json-bytes/is-json.ts';
import { chooseEnvelope } from '../problems/choose-envelope.ts';
import { enclose } from '../problems/envelopes.ts';
import { findErrorRow } from '../problems/error-table.ts';
import type { CollectedAnswer } from './collecting-sink.ts';

const MESSAGE_LENGTH_MAX = 2000;
const CODE = /^[\w.-]{1,100}$/;

/** Chooses the form of an answer in the job: JSON as JSON, text as text, anything else as base64. */
export async function chooseEncoding({ contentType, body }: CollectedAnswer): Promise<JobEncoding> {
  const type = contentType.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  if (body.length === 0) return 'none';
  if (!isUtf8(body)) return 'base64';
  if (/^application\/([\w.-]+\+)?json$/.test(type) && (await isJsonInTurns(body))) return 'json';
  return type.startsWith('text/') ? 'text' : 'base64';
}

/** Reads the error of an unsuccessful answer, in any dialect. */
export function readFailure({ status, body }: CollectedAnswer): JobFailure {
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
  { call: { path }, requestId }: LeasedJob,
): { readonly answer: CollectedAnswer; readonly failure: JobFailure } {
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

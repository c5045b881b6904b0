import type { IncomingHttpHeaders } from 'node:http';
import {
  LARGE_JSON,
  SMALL_JSON,
  newBoundsCheck,
  parseBoundedJson,
  parseJsonInTurns,
} from '@reelgate/platform/bounded-json';
import { Problem } from '@reelgate/platform/problem';
import { isPacked } from './unpack-body.ts';
import { refuse } from '../../refusals.ts';

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
/** A body that declares at most this much is checked when it is parsed. */
const SHORT_BYTES = 64 * 1024;

/** Checks a chunk of a body that arrives. */
export type CheckChunk = (chunk: Buffer) => void;

/** The check of a long body while it arrives, so that one with too much in it is neither collected nor copied. */
export function checkJsonBody(headers: IncomingHttpHeaders): CheckChunk | undefined {
  return checkArrival(headers, SMALL_JSON);
}

/** The same for the body of a call to a model. */
export function checkCallBody(headers: IncomingHttpHeaders): CheckChunk | undefined {
  return checkArrival(headers, LARGE_JSON);
}

function checkArrival(headers: IncomingHttpHeaders, bounds: typeof SMALL_JSON): CheckChunk | undefined {
  const isShort = !isPacked(headers) && Number(headers['content-length'] ?? Number.NaN) <= SHORT_BYTES;
  return isShort ? undefined : newBoundsCheck(bounds);
}

/** A body without its byte order mark, which JSON may not have (RFC 8259, 8.1). Many upstreams refuse it. */
export function dropByteOrderMark(body: Buffer): Buffer {
  return body.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? body.subarray(BYTE_ORDER_MARK.length)
    : body;
}

/** Parses the JSON of a request that is not a call to a model. It must be UTF-8 and within the bounds. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return parseBoundedJson(bytes, SMALL_JSON);
  } catch (error) {
    throw toRefusal(bytes, error);
  }
}

/** Parses the same body in turns if it is large, because a request can carry media. */
export function parseJsonBody(bytes: Buffer): Promise<unknown> {
  return parseInTurns(bytes, SMALL_JSON);
}

/** Parses the body of a call to a model, which can have a long conversation, many tools or many tokens. */
export function parseCallBody(bytes: Buffer): Promise<unknown> {
  return parseInTurns(bytes, LARGE_JSON);
}

async function parseInTurns(bytes: Buffer, bounds: typeof SMALL_JSON): Promise<unknown> {
  try {
    return await parseJsonInTurns(bytes, bounds);
  } catch (error) {
    throw toRefusal(bytes, error);
  }
}

function toRefusal(bytes: Buffer, error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (bytes.length === 0) return refusal('the body is empty; send a JSON object');
  return refusal(error instanceof SyntaxError ? 'the body must be valid JSON' : 'the body must be JSON in UTF-8');
}

function refusal(message: string): Problem {
  return refuse('invalid_json', { message });
}

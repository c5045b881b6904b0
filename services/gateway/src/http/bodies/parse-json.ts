import { LARGE_JSON, SMALL_JSON, parseBoundedJson, parseJsonInTurns } from '@reelgate/platform/bounded-json';
import { Problem } from '@reelgate/platform/problem';

/** Parses the JSON of a request that names what to do. It must be UTF-8 and within the bounds. */
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
  return new Problem({ kind: 'invalid', reason: 'invalid_json', message });
}

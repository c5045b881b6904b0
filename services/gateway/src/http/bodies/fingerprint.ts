import { createHash } from 'node:crypto';
import { nextTurn } from '@reelgate/platform/bounded-json';
import type { ClientBody } from '../../dialects/dialect.ts';

/** So much is hashed in about five milliseconds. */
const TURN_LENGTH = 4 * 1024 * 1024;
const JOINED_LENGTH = 16 * 1024;

export interface FingerprintInput {
  readonly method: string;
  readonly path: string;
  readonly body: ClientBody;
}

/**
 * A digest of the content of a request. The order of keys, the spacing of JSON and the boundary of a form do not change
 * it. Each value is hashed with its type and length, so that two different bodies have different inputs.
 */
export async function computeFingerprint({ method, path, body }: FingerprintInput): Promise<string> {
  const pieces: Piece[] = [];
  addText(pieces, method);
  addText(pieces, path);
  if ('json' in body) addValue(pieces, body.json);
  else {
    for (const [name, value] of body.form.fields) {
      addText(pieces, name);
      addText(pieces, value);
    }
    for (const { name, mediaType, chunks } of body.form.files) {
      addText(pieces, name);
      addText(pieces, mediaType);
      pieces.push(await hashInTurns(chunks));
    }
  }
  const digest = await hashInTurns(pieces);
  // a large body has more work to come
  if (pieces.length > 1) await nextTurn();
  return digest.toString('base64url');
}

type Piece = string | Uint8Array;

/** The recursion is bounded: the parser limits the depth of a body. */
function addValue(pieces: Piece[], value: unknown): void {
  if (typeof value === 'string') addText(pieces, value);
  else if (Array.isArray(value)) {
    add(pieces, `[${value.length}`);
    for (const item of value) addValue(pieces, item);
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    add(pieces, `{${entries.length}`);
    for (const [name, inner] of entries) {
      addText(pieces, name);
      addValue(pieces, inner);
    }
  } else add(pieces, `!${JSON.stringify(value)};`);
}

function addText(pieces: Piece[], text: string): void {
  add(pieces, `"${text.length}:`);
  add(pieces, text);
}

/** Short texts are put together, because each update of a hash costs as much as a hundred bytes. */
function add(pieces: Piece[], text: string): void {
  const last = pieces.at(-1);
  if (typeof last === 'string' && last.length + text.length <= JOINED_LENGTH) pieces[pieces.length - 1] = last + text;
  else pieces.push(text);
}

/** Hashes the pieces one after the other, in several turns of the event loop if they are long. */
async function hashInTurns(pieces: readonly Piece[]): Promise<Buffer> {
  const hash = createHash('sha256');
  let left = TURN_LENGTH;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const end = findCut(piece, at + TURN_LENGTH);
      hash.update(piece.length <= TURN_LENGTH ? piece : piece.slice(at, end));
      left -= end - at;
      at = end;
      if (left > 0) continue;
      await nextTurn();
      left = TURN_LENGTH;
    }
  }
  return hash.digest();
}

/** A character of two units is not cut in two, because half of one has other bytes. */
function findCut(piece: Piece, at: number): number {
  if (at >= piece.length) return piece.length;
  return typeof piece === 'string' && (piece.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}

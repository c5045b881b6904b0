import { Problem } from '@reelgate/platform/problem';
import { endOfString } from '../../json-bytes/json-members.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });
const DEPTH_MAX = 64;
/** Brackets, commas and colons: what makes a parsed value many times larger than its text. */
const STRUCTURE_MAX = 2_000_000;
const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
/** What a byte does to the depth; the others of the structure are 2. */
const STEPS = new Int8Array(256);
STEPS[0x7b] = STEPS[0x5b] = 1;
STEPS[0x7d] = STEPS[0x5d] = -1;
STEPS[COMMA] = STEPS[COLON] = 2;

/** Parses a JSON body, in UTF-8 and of a sane shape. */
export function parseJson(bytes: Buffer): unknown {
  assertModest(bytes);
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (error) {
    if (bytes.length === 0) throw refusal('the body is empty; send a JSON object');
    throw refusal(error instanceof SyntaxError ? 'the body must be valid JSON' : 'the body must be JSON in UTF-8');
  }
}

/** Refuses what would take far more memory than its bytes, before it is parsed. */
function assertModest(bytes: Buffer): void {
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(bytes, at) - 1;
      continue;
    }
    const step = STEPS[byte] ?? 0;
    if (step === 0) continue;
    if (step < 2) depth += step;
    structure += 1;
    if (depth > DEPTH_MAX) throw refusal(`the body must not nest deeper than ${String(DEPTH_MAX)} levels`);
    if (structure > STRUCTURE_MAX)
      throw refusal(
        `the body has too many values; brackets, commas and colons together must be at most ${String(STRUCTURE_MAX)}`,
      );
  }
}

function refusal(message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_json', message });
}

import { Problem } from '@reelgate/platform/problem';

const UTF8 = new TextDecoder('utf-8', { fatal: true });
const DEPTH_MAX = 64;
/** Brackets, commas and colons: what makes a parsed value many times larger than its text. */
const STRUCTURE_MAX = 2_000_000;
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
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
    const why = error instanceof SyntaxError ? 'it cannot be parsed' : 'it is not UTF-8';
    throw refusal(bytes.length === 0 ? 'the body is empty; send a JSON object' : `the body must be JSON; ${why}`);
  }
}

/** Refuses what would take far more memory than its bytes, before it is parsed. */
function assertModest(bytes: Buffer): void {
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      continue;
    }
    const step = STEPS[byte] ?? 0;
    if (step === 0) continue;
    if (step < 2) depth += step;
    structure += 1;
    if (depth > DEPTH_MAX) throw refusal(`the body must not be nested deeper than ${String(DEPTH_MAX)}`);
    if (structure > STRUCTURE_MAX) throw refusal('the body holds too many values');
  }
}

/** Where the string that begins here ends; the end of the bytes if it does not. */
function endOfString(bytes: Buffer, start: number): number {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote;
  }
  return bytes.length;
}

function refusal(message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_json', message });
}

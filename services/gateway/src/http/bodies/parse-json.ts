import { Problem } from '@reelgate/platform/problem';
import { endOfString } from '../../json-bytes/json-members.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });
const DEPTH_MAX = 64;
/** Brackets, commas and colons. Each of them can make the parsed value many times larger than its text. */
const STRUCTURE_MAX = 2_000_000;
const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Parses a JSON body. It must be UTF-8 and within the limits on depth and structure. */
export function parseJson(bytes: Buffer): unknown {
  assertWithinLimits(bytes);
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (error) {
    if (bytes.length === 0) throw refusal('the body is empty; send a JSON object');
    throw refusal(error instanceof SyntaxError ? 'the body must be valid JSON' : 'the body must be JSON in UTF-8');
  }
}

/** Refuses a body that would take far more memory than its bytes, before it is parsed. */
function assertWithinLimits(bytes: Buffer): void {
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at) - 1;
        continue;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COMMA:
      case COLON:
        break;
      default:
        continue;
    }
    structure += 1;
    if (depth > DEPTH_MAX) throw refusal(`the body must not nest deeper than ${DEPTH_MAX} levels`);
    if (structure > STRUCTURE_MAX)
      throw refusal(
        `the body has too many values; brackets, commas and colons together must be at most ${STRUCTURE_MAX}`,
      );
  }
}

function refusal(message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_json', message });
}

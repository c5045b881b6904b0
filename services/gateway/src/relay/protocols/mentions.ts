import { endOfContainer, iterateMembers, skipSpace } from '../../json-bytes/json-members.ts';

const [COLON, FIRST_OF_NULL, OPEN_LIST, OPEN] = [0x3a, 0x6e, 0x5b, 0x7b];
/** An answer without these words reports no fault. */
const FAULT_MARKS = quoteWords('error', 'failed', 'cancelled', 'base_resp', 'network_error', 'abort');
/** An event that is only an error has one of these words too. */
const BARE_FAULT_MARKS = quoteWords('code', 'error_code', 'errors', 'detail');

/** Puts words in quotes, as they are in the bytes of an event. */
export function quoteWords(...words: readonly string[]): readonly Buffer[] {
  return words.map(quoteWord);
}

export function quoteWord(word: string): Buffer {
  return Buffer.from(`"${word}"`);
}

/** Reports whether JSON has this word as a value, or as the name of a member that is not null, without parsing. */
function mentions(json: Buffer, quotedWord: Buffer): boolean {
  for (let at = json.indexOf(quotedWord); at >= 0; at = json.indexOf(quotedWord, at + quotedWord.length)) {
    const next = skipSpace(json, at + quotedWord.length);
    if (json[next] !== COLON || json[skipSpace(json, next + 1)] !== FIRST_OF_NULL) return true;
  }
  return false;
}

export function mentionsAny(json: Buffer, quotedWords: readonly Buffer[]): boolean {
  return quotedWords.some((word) => mentions(json, word));
}

export function mentionsFault(json: Buffer): boolean {
  return mentionsAny(json, FAULT_MARKS);
}

export function mentionsBareFault(json: Buffer): boolean {
  return mentionsAny(json, BARE_FAULT_MARKS);
}

/** Finds the bytes of the object with which the list of this name in the outermost object begins. */
export function findFirstElement(json: Buffer, name: string): Buffer | undefined {
  for (const { name: found, valueStart } of iterateMembers(json)) {
    if (found !== name) continue;
    const start = skipSpace(json, valueStart + 1);
    const isObject = json[valueStart] === OPEN_LIST && json[start] === OPEN;
    return isObject ? json.subarray(start, endOfContainer(json, start)) : undefined;
  }
  return undefined;
}

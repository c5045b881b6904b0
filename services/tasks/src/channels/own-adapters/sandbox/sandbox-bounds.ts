/** Processor time of one step of an operation, and of the load of an adapter. */
const COMPUTE_MS_MAX = 100;
export const LOAD_MS_MAX = 1000;
/** The memory of the engine that the values of an adapter may take. */
export const MEMORY_BYTES_MAX = 32 * 1024 * 1024;
/** A thread with a larger engine is replaced: this memory never shrinks, and near its bound every step fails. */
export const KEPT_BYTES_MAX = 24 * 1024 * 1024;
/** The characters of an answer, as JSON. */
const ANSWER_CHARS_MAX = 1024 * 1024;

const BYTES_PER_CHAR = 8;
const ANSWER_CHARS_PER_CHAR = 2;
const MS_PER_MIB = 100;

/**
 * The bounds of one step. They grow with the size of the question, because media inside an order come back in a
 * request.
 */
export function allowFor(chars: number): { readonly ms: number; readonly bytes: number; readonly answerChars: number } {
  return {
    ms: COMPUTE_MS_MAX + allowMoreMs(chars),
    bytes: MEMORY_BYTES_MAX + chars * BYTES_PER_CHAR,
    answerChars: ANSWER_CHARS_MAX + chars * ANSWER_CHARS_PER_CHAR,
  };
}

export function allowMoreMs(chars: number): number {
  return Math.floor((chars / (1024 * 1024)) * MS_PER_MIB);
}

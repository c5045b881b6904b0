const CHARACTERS_MAX = 256;
const STEPS_MAX = 16;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/;

/** The names and indexes that lead from the outermost value of a JSON text to an inner one. */
export type JsonPointer = readonly string[];

/** Reads a JSON pointer (RFC 6901) to an inner value. Returns undefined if the text is not a pointer or is too long. */
export function parseJsonPointer(text: string): JsonPointer | undefined {
  if (text.length > CHARACTERS_MAX || !POINTER.test(text)) return undefined;
  const steps = text.slice(1).split('/');
  return steps.length > STEPS_MAX ? undefined : steps.map(unescapeStep);
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

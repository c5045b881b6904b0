import { stripTypeScriptTypes } from 'node:module';
import { OwnAdapterFault, countLine } from './own-adapter-fault.ts';

/** The variable that takes the default export of an adapter. It is as long as the words that it replaces. */
export const DEFAULT_EXPORT = '__adapter__';
const EXPORT_DEFAULT = /\bexport\s+default\b/g;
const COMMENT_OR_TEXT = /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`/g;
const REFUSED: readonly (readonly [word: RegExp, reason: string])[] = [
  [/\bimport\b/, 'an adapter imports types only (`import type`); everything of kit.ts is in the argument `kit`'],
  [/\bexport\b/, 'an adapter has one export: `export default (kit) => adapter`'],
  [/\b(async|await)\b/, 'an adapter waits for nothing: an operation is a generator that yields requests'],
];

/** Removes the types of a TypeScript text. Every other character keeps its place. */
export function stripTypes(file: string, text: string): string {
  try {
    return stripTypeScriptTypes(text, { mode: 'strip' });
  } catch (error) {
    throw new OwnAdapterFault(file, 1, `is not TypeScript with types alone: ${(error as Error).message}`);
  }
}

/** Returns an adapter as statements that assign its default export to a variable. Throws an `OwnAdapterFault`. */
export function stripAdapter(file: string, text: string): string {
  const stripped = stripTypes(file, text);
  const [exported] = blankTexts(stripped).matchAll(EXPORT_DEFAULT);
  if (exported === undefined) throw new OwnAdapterFault(file, 1, '`export default (kit) => adapter` is missing');
  const after = exported.index + exported[0].length;
  const statements = `${stripped.slice(0, exported.index)}${DEFAULT_EXPORT}=${stripped.slice(after)}`;
  const code = blankTexts(statements);
  for (const [word, reason] of REFUSED) {
    const at = code.search(word);
    if (at >= 0) throw new OwnAdapterFault(file, countLine(code, at), reason);
  }
  return statements;
}

/** Replaces comments and texts by spaces, so that a word inside them is not taken for code. */
function blankTexts(code: string): string {
  return code.replace(COMMENT_OR_TEXT, (text) => text.replace(/[^\n]/g, ' '));
}

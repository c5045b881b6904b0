/**
 * Characters that a terminal or an editor would act on or hide: a text that shows them as they are could look like
 * another. JSON already escapes the lower ones.
 */
const ACTIVE = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The way in which a language writes a value. */
interface Language {
  readonly step: string;
  readonly words: ReadonlyMap<unknown, string>;
  readonly key: (name: string) => string;
}

const JSON_WORDS: Language = { step: '  ', words: new Map(), key: jsonString };
const PYTHON: Language = {
  step: '    ',
  words: new Map<unknown, string>([
    [true, 'True'],
    [false, 'False'],
    [null, 'None'],
  ]),
  // a string of JSON is one of Python
  key: jsonString,
};
const JAVASCRIPT: Language = {
  step: '  ',
  words: new Map(),
  // in an object literal, this name alone would set the prototype
  key: (name) => (name === '__proto__' ? '["__proto__"]' : jsonString(name)),
};

export function jsonText(value: unknown): string {
  return literal(JSON_WORDS, value, '');
}

/** A value of JSON as Python writes it, within a line that is indented `depth` times. */
export function pythonLiteral(value: unknown, depth = 0): string {
  return literal(PYTHON, value, PYTHON.step.repeat(depth));
}

export function javascriptLiteral(value: unknown, depth = 0): string {
  return literal(JAVASCRIPT, value, JAVASCRIPT.step.repeat(depth));
}

/** A text as one word of a POSIX shell, which reads nothing in it. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function literal(language: Language, value: unknown, indent: string): string {
  if (value === null || typeof value !== 'object') return language.words.get(value) ?? jsonString(value);
  const inner = indent + language.step;
  const [open, close] = Array.isArray(value) ? (['[', ']'] as const) : (['{', '}'] as const);
  const parts = Array.isArray(value)
    ? value.map((one) => literal(language, one, inner))
    : Object.entries(value).map(([name, one]) => `${language.key(name)}: ${literal(language, one, inner)}`);
  if (parts.length === 0) return `${open}${close}`;
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${indent}${close}`;
}

function jsonString(value: unknown): string {
  return JSON.stringify(value).replace(ACTIVE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

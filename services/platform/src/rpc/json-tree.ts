/** A JSON value as it was written: members in their order and with repetitions, numbers as text. */
export type JsonTree =
  | { readonly is: 'object'; readonly members: readonly JsonMember[] }
  | { readonly is: 'list'; readonly items: readonly JsonTree[] }
  | { readonly is: 'string'; readonly value: string }
  | { readonly is: 'number'; readonly written: string }
  | { readonly is: 'boolean' | 'null' };

export type JsonMember = readonly [name: string, value: JsonTree];

/** Brackets, strings, and the other values. Spaces, commas and colons lie between them. */
const TOKENS = /[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,:{}[\]"]+/g;

/**
 * Reads a JSON text, after `JSON.parse` has checked it. Throws the SyntaxError of `JSON.parse`, which says what is wrong,
 * and where. The caller bounds the depth of the text.
 */
export function readJsonTree(text: string): JsonTree {
  JSON.parse(text);
  const tokens = text.matchAll(TOKENS);
  const next = (): string => tokens.next().value?.[0] ?? '';
  return readValue(next(), next);
}

/** Reads the value that a token begins. */
function readValue(token: string, next: () => string): JsonTree {
  switch (token[0]) {
    case '{': {
      const members: JsonMember[] = [];
      for (let name = next(); name !== '}'; name = next()) members.push([readText(name), readValue(next(), next)]);
      return { is: 'object', members };
    }
    case '[': {
      const items: JsonTree[] = [];
      for (let first = next(); first !== ']'; first = next()) items.push(readValue(first, next));
      return { is: 'list', items };
    }
    case '"':
      return { is: 'string', value: readText(token) };
    case 't':
    case 'f':
      return { is: 'boolean' };
    case 'n':
      return { is: 'null' };
    default:
      return { is: 'number', written: token };
  }
}

function readText(token: string): string {
  return JSON.parse(token) as string;
}

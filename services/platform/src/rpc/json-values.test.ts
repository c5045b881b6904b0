import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readJsonTree } from './json-values.ts';
import type { JsonTree } from './json-values.ts';

/** The value as JSON.parse would give it. */
function valueOf(tree: JsonTree, text: string): unknown {
  switch (tree.is) {
    case 'object':
      return Object.fromEntries(tree.members.map(([name, value]) => [name, valueOf(value, text)]));
    case 'list':
      return tree.items.map((item) => valueOf(item, text));
    case 'string':
      return tree.value;
    case 'number':
      return Number(tree.written);
    case 'boolean':
    case 'null':
      return tree.is;
  }
}

/** The same with the words that a tree does not keep. */
function withoutWords(value: unknown): unknown {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value)) return value.map(withoutWords);
  if (typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutWords(inner)]));
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: withoutWords(JSON.parse(text)) };
  } catch {
    return undefined;
  }
}

function read(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: valueOf(readJsonTree(text), text) };
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return undefined;
  }
}

test('every JSON text has the value that JSON.parse gives', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(2), (value, space) => {
      const text = JSON.stringify(value, undefined, space);

      expect(read(text)).toEqual(parsed(text));
    }),
  );
});

test('a text with one change is JSON here exactly when it is for JSON.parse', () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 4 }),
      fc.nat(),
      fc.nat(2),
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"',
        ',',
        ':',
        '\\',
        '0',
        '-',
        '+',
        '.',
        'e',
        't',
        'n',
        ' ',
        'u',
        '\u0001',
        '\n',
      ),
      (text, place, removed, added) => {
        const at = place % (text.length + 1);
        const changed = text.slice(0, at) + added + text.slice(at + removed);

        expect(read(changed)).toEqual(parsed(changed));
      },
    ),
    { numRuns: 2000 },
  );
});

test('members keep their order and their repetitions, and numbers their digits', () => {
  expect(readJsonTree('{"b":1.50,"a":"x","b":null}')).toEqual({
    is: 'object',
    members: [
      ['b', { is: 'number', written: '1.50' }],
      ['a', { is: 'string', value: 'x' }],
      ['b', { is: 'null' }],
    ],
  });
});

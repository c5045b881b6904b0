import { expect, test } from '@jest/globals';
import { parseJsonPointer } from './json-pointer.ts';

test.each<[string, readonly string[]]>([
  ['/a', ['a']],
  ['/data/0/b64_json', ['data', '0', 'b64_json']],
  ['/', ['']],
  ['/a//b', ['a', '', 'b']],
  ['/a~1b/m~0n/~01', ['a/b', 'm~n', '~1']],
  ['/ü "\\', ['ü "\\']],
])('%j is a pointer, and ~1 and ~0 are / and ~ in its names', (text, steps) => {
  expect(parseJsonPointer(text)).toEqual(steps);
});

test.each(['', 'a', 'a/b', '#/a', '$.a', '/a~', '/a~2', '/~~1', `/${'a'.repeat(256)}`, '/a'.repeat(17)])(
  '%j is no pointer to an inner value, or too long',
  (text) => {
    expect(parseJsonPointer(text)).toBeUndefined();
  },
);

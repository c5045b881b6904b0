import { describe, expect, test } from '@jest/globals';
import { editStrings, newStringEditor, toPlaces } from './edit-strings.ts';

const PLACES = toPlaces(
  [
    'id',
    'response.id',
    'output[].id',
    'output[].content[].file_id',
    'container',
    'container.file_ids[]',
    'any.*.id',
  ].map((path) => ({ path })),
);
const mark = {
  edit: ({ path }: { readonly path: string }, value: string | undefined, at: readonly number[]) =>
    value === undefined ? undefined : `${value}@${path}${at.join('.')}`,
};
const edit = (text: string): string => editStrings(Buffer.from(text), PLACES, mark).toString();

describe('a string at a place is edited, and no other byte changes', () => {
  test.each([
    ['{"id":"a"}', '{"id":"a@id"}'],
    ['{ "id" : "a" , "x":1 }', '{ "id" : "a@id" , "x":1 }'],
    ['{"x":{"id":"a"},"id":"b"}', '{"x":{"id":"a"},"id":"b@id"}'],
    ['{"metadata":{"id":"a","response":{"id":"b"}}}', '{"metadata":{"id":"a","response":{"id":"b"}}}'],
    ['{"x":"\\"id\\":\\"a\\"","id":"b"}', '{"x":"\\"id\\":\\"a\\"","id":"b@id"}'],
    ['{"i\\u0064":"\\u0061"}', '{"i\\u0064":"a@id"}'],
    [
      '{"output":[{"id":"a"},{"x":[1],"id":"b"}]}',
      '{"output":[{"id":"a@output[].id0"},{"x":[1],"id":"b@output[].id1"}]}',
    ],
    [
      '{"output":[7,[],{"content":[{"file_id":"f"}]}]}',
      '{"output":[7,[],{"content":[{"file_id":"f@output[].content[].file_id2.0"}]}]}',
    ],
    ['{"container":"c"}', '{"container":"c@container"}'],
    [
      '{"container":{"file_ids":["f","g"]}}',
      '{"container":{"file_ids":["f@container.file_ids[]0","g@container.file_ids[]1"]}}',
    ],
    ['{"any":{"one":{"id":"a"},"two":{"id":"b"}}}', '{"any":{"one":{"id":"a@any.*.id"},"two":{"id":"b@any.*.id"}}}'],
    [
      '{"ID":"a","Output":[{"content":[{"fileId":"f"}]}]}',
      '{"ID":"a@id","Output":[{"content":[{"fileId":"f@output[].content[].file_id0.0"}]}]}',
    ],
    [
      '{"ſ":1,"output":[{"content":[{"FILE_ID":"f"}]}]}',
      '{"ſ":1,"output":[{"content":[{"FILE_ID":"f@output[].content[].file_id0.0"}]}]}',
    ],
    ['{"id":"a"', '{"id":"a@id"'],
    ['{"id":"a', '{"id":"a'],
    ['"id":"a"', '"id":"a"'],
    ['[{"id":"a"}]', '[{"id":"a@id"}]'],
  ])('%s', (before, after) => {
    expect(edit(before)).toBe(after);
  });
});

test('whatever the pieces are in which a text arrives', () => {
  const text = Buffer.from(
    `{"a":"\\\\","id":"a\\"b\\\\","b":"\\\\\\"","response":{"x":{"id":1},"id":"é🚤"},"output":[{"id":"b"}],"n":null}`,
  );
  const whole = editStrings(text, PLACES, mark).toString();

  expect(JSON.parse(whole)).toMatchObject({ id: 'a"b\\@id', response: { id: 'é🚤@response.id' } });
  for (let first = 0; first < text.length; first += 1)
    for (let second = first; second < text.length; second += 1) {
      const editor = newStringEditor(PLACES, mark);
      const pieces = [text.subarray(0, first), text.subarray(first, second), text.subarray(second)];
      const edited = [...pieces.map((piece) => editor.take(piece)), editor.rest()];
      expect(Buffer.concat(edited).toString()).toBe(whole);
    }
});

describe('what is no string at a place is told', () => {
  test.each([
    ['{"id":null}', ['null']],
    ['{"id": 12 }', ['12']],
    ['{"id":true,"output":[{"id":{}},{"id":[1]}]}', ['true', '{', '[']],
    ['{"container":{"file_ids":[1,null]}}', ['1', 'null']],
    ['{"container":[]}', ['[']],
  ])('%s', (text, expected) => {
    const told: string[] = [];
    editStrings(Buffer.from(text), PLACES, {
      edit: (_place, value, _at, json) => {
        if (value === undefined) told.push(json);
        return undefined;
      },
    });

    expect(told).toEqual(expected);
  });
});

describe('a place that an object names twice is told', () => {
  test.each([
    ['{"id":"a","id":"b"}', ['"id"']],
    ['{"id":"a","Id":"b"}', ['"Id"']],
    ['{"output":[],"output":[{"id":"b","i\\u0064":"c"}]}', ['"output"', '"i\\u0064"']],
    ['{"x":1,"x":2,"output":[{"id":"a"},{"id":"b"}]}', []],
  ])('%s', (text, expected) => {
    const told: string[] = [];
    editStrings(Buffer.from(text), PLACES, { edit: () => undefined, onTwice: (name) => void told.push(name) });

    expect(told).toEqual(expected);
  });
});

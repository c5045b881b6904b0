import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withMember, withoutMember } from './json-members.ts';

const edited = (text: string, value = 'up'): string =>
  withMember(Buffer.from(text), 'model', JSON.stringify(value)).toString();

describe('a member of a JSON body gets another value, and no other byte changes', () => {
  test.each([
    ['{"model":"m"}', '{"model":"up"}'],
    [
      '{ "a" : 1 ,\n "model" :\t"m" , "b":[{"model":"inner"}]}',
      '{ "a" : 1 ,\n "model" :\t"up" , "b":[{"model":"inner"}]}',
    ],
    ['{"nested":{"model":"inner"},"model":"m"}', '{"nested":{"model":"inner"},"model":"up"}'],
    ['{"text":"\\"model\\":\\"m\\"","model":"m"}', '{"text":"\\"model\\":\\"m\\"","model":"up"}'],
    ['{"text":"ends in a backslash \\\\","model":"m"}', '{"text":"ends in a backslash \\\\","model":"up"}'],
    ['{"mod\\u0065l":"m","x":1}', '{"mod\\u0065l":"up","x":1}'],
    ['{"model":"first","x":1,"model":"m"}', '{"model":"up","x":1,"model":"up"}'],
    ['{"model":{"a":["}"]},"x":1.50}', '{"model":"up","x":1.50}'],
    ['\ufeff{"model":"m"}', '\ufeff{"model":"up"}'],
    ['{"prompt":"ünï 🚤","model":"m"} \n', '{"prompt":"ünï 🚤","model":"up"} \n'],
  ])('%s', (before, after) => {
    expect(edited(before)).toBe(after);
  });
  test.each([
    ['{}', '{"model":"up"}'],
    ['{ }', '{"model":"up" }'],
    ['{"a":1}', '{"model":"up","a":1}'],
    ['{\n "model2": 1 }', '{"model":"up",\n "model2": 1 }'],
  ])('a missing member is inserted at the front: %s', (before, after) => {
    expect(edited(before)).toBe(after);
  });
});

describe('a member is removed from a JSON body', () => {
  test.each([
    ['{"usage":null}', '{}'],
    ['{"usage":null,"a":1}', '{"a":1}'],
    ['{"a":1,"usage":null}', '{"a":1}'],
    ['{"a":1, "usage" : {"x":[1,2]} , "b":2}', '{"a":1 , "b":2}'],
    ['{"usage":1,"usage":2,"a":3}', '{"a":3}'],
    ['{"a":{"usage":1}}', '{"a":{"usage":1}}'],
  ])('%s', (before, after) => {
    expect(withoutMember(Buffer.from(before), 'usage').toString()).toBe(after);
  });
});

/** JSON texts with odd spacing, nesting, escapes and similar names. */
const objects = fc.dictionary(
  fc.oneof(fc.constantFrom('model', 'Model', 'mode', 'model ', 'usage', '"model"'), fc.string({ unit: 'binary' })),
  fc.jsonValue({ maxDepth: 4 }),
  { maxKeys: 8 },
);
const spacings = fc.constantFrom(0, 1, 2, '\t', '\n ');

test('setting a member of any object changes only that member when parsed', () => {
  fc.assert(
    fc.property(objects, spacings, fc.string(), (object, spacing, value) => {
      const text = JSON.stringify(object, undefined, spacing);
      const after: unknown = JSON.parse(withMember(Buffer.from(text), 'model', JSON.stringify(value)).toString());

      expect(after).toEqual(JSON.parse(JSON.stringify({ ...object, model: value })));
    }),
  );
});

test('setting a member of any object changes no byte outside its value', () => {
  fc.assert(
    fc.property(objects, spacings, (object, spacing) => {
      const text = JSON.stringify({ ...object, model: 'm' }, undefined, spacing);
      const there = withMember(Buffer.from(text), 'model', '"something else"');
      const back = withMember(there, 'model', '"m"').toString();

      expect(back).toBe(text);
    }),
  );
});

test('removing a member of any object changes no other member when parsed', () => {
  fc.assert(
    fc.property(objects, spacings, (object, spacing) => {
      const { usage: _, ...rest } = object;
      const after: unknown = JSON.parse(
        withoutMember(Buffer.from(JSON.stringify(object, undefined, spacing)), 'usage').toString(),
      );

      expect(after).toEqual(JSON.parse(JSON.stringify(rest)));
    }),
  );
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formBody } from '../../../testing/multipart-form.ts';
import type { FormPart } from '../../../testing/multipart-form.ts';
import { readBoundary, readTextFields, parseFormParts, setFormField } from './form-parts.ts';

const BOUNDARY = 'xxBOUNDARYxx';
const formOf = (parts: readonly FormPart[]): Buffer => formBody(BOUNDARY, parts);

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; charset=utf-8; boundary="a b"', 'a b'],
  ['multipart/form-data;boundary=abc;x=y', 'abc'],
  ['multipart/form-data', undefined],
])('the boundary of %s', (type, boundary) => {
  expect(readBoundary(type)).toBe(boundary);
});

describe('the fields of a form', () => {
  test('are its parts without a file name; the last of a name counts', () => {
    const form = formOf([
      { name: 'model', content: Buffer.from('one') },
      { name: 'file', content: Buffer.from('x'), fileName: 'a.wav', type: 'audio/wav' },
      { name: 'model', content: Buffer.from('two') },
      { name: 'empty', content: Buffer.alloc(0) },
    ]);
    const parts = parseFormParts(form, BOUNDARY) ?? [];

    expect(parts.map(({ name, isFile }) => [name, isFile])).toEqual([
      ['model', false],
      ['file', true],
      ['model', false],
      ['empty', false],
    ]);
    expect(Object.fromEntries(readTextFields(form, parts))).toEqual({ model: 'two', empty: '' });
  });
  test.each([
    '',
    'hello',
    `--${BOUNDARY}\r\n`,
    `--${BOUNDARY}\r\nContent-Type: text/plain\r\n\r\nx\r\n--${BOUNDARY}--`,
    `x--${BOUNDARY}--`,
  ])('do not exist in a body that is not a form: %j', (body) => {
    expect(parseFormParts(Buffer.from(body), BOUNDARY)).toBeUndefined();
  });
  test('do not exist in a body with lines by the thousand that only begin with the boundary', () => {
    const content = (lines: number): Buffer => Buffer.from(`\r\n--${BOUNDARY}x`.repeat(lines));
    const parse = (lines: number): unknown =>
      parseFormParts(formOf([{ name: 'f', content: content(lines) }]), BOUNDARY);

    expect(parse(50)).toHaveLength(1);
    expect(parse(1000)).toBeUndefined();
  });
  test('are refused if they are too many', () => {
    const many = Array.from({ length: 600 }, (_, index) => ({ name: `f${index}`, content: Buffer.from('x') }));

    expect(parseFormParts(formOf(many), BOUNDARY)).toBeUndefined();
  });
});

describe('a line that only begins with the boundary', () => {
  const file = {
    name: 'file',
    content: Buffer.from(`x\r\n--${BOUNDARY}2\r\nContent-Disposition: form-data; name="model"\r\n\r\ncheap`),
    fileName: 'a.wav',
    type: 'audio/wav',
  };
  const form = formOf([{ name: 'model', content: Buffer.from('one') }, file]);

  test('is content like any other', () => {
    const parts = parseFormParts(form, BOUNDARY) ?? [];

    expect(parts.map(({ name, isFile }) => [name, isFile])).toEqual([
      ['model', false],
      ['file', true],
    ]);
    expect(form.subarray(parts[1]?.start, parts[1]?.end).equals(file.content)).toBe(true);
  });
  test('begins no part either, and white space after a boundary does not belong to it', () => {
    const body = Buffer.from(
      `--${BOUNDARY}2\r\n--${BOUNDARY} \t\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n--${BOUNDARY}-- `,
    );

    expect(Object.fromEntries(readTextFields(body, parseFormParts(body, BOUNDARY) ?? []))).toEqual({ a: 'v' });
  });
});

test('no byte of the other parts changes, whatever they contain', () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(bytes, bytes, fc.string({ unit: 'binary', maxLength: 50 }), (before, after, value) => {
      fc.pre(!value.includes(BOUNDARY));
      const build = (model: string): Buffer =>
        formOf([
          { name: 'file', content: before, fileName: 'model', type: 'audio/wav' },
          { name: 'model', content: Buffer.from(model) },
          { name: 'prompt', content: after },
        ]);
      const form = build('some-model');

      expect(
        setFormField(form, parseFormParts(form, BOUNDARY) ?? [], { name: 'model', value }).equals(build(value)),
      ).toBe(true);
    }),
  );
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { boundaryOf, fieldsOf, formPartsOf, withField } from './form-parts.ts';

const BOUNDARY = 'xxBOUNDARYxx';
interface Field {
  readonly name: string;
  readonly value: Buffer;
  readonly file?: string;
}
function formOf(fields: readonly Field[]): Buffer {
  const parts = fields.flatMap(({ name, value, file }) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"\r\nContent-Type: audio/wav`}\r\n\r\n`,
    ),
    value,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; charset=utf-8; boundary="a b"', 'a b'],
  ['multipart/form-data;boundary=abc;x=y', 'abc'],
  ['multipart/form-data', undefined],
])('the boundary of %s', (type, boundary) => {
  expect(boundaryOf(type)).toBe(boundary);
});

describe('the fields of a form', () => {
  test('are its parts without a file name; the last of a name counts', () => {
    const form = formOf([
      { name: 'model', value: Buffer.from('one') },
      { name: 'file', value: Buffer.from('x'), file: 'a.wav' },
      { name: 'model', value: Buffer.from('two') },
      { name: 'empty', value: Buffer.alloc(0) },
    ]);
    const parts = formPartsOf(form, BOUNDARY) ?? [];

    expect(parts.map(({ name, isFile }) => [name, isFile])).toEqual([
      ['model', false],
      ['file', true],
      ['model', false],
      ['empty', false],
    ]);
    expect(Object.fromEntries(fieldsOf(form, parts))).toEqual({ model: 'two', empty: '' });
  });
  test.each([
    '',
    'hello',
    `--${BOUNDARY}\r\n`,
    `--${BOUNDARY}\r\nContent-Type: text/plain\r\n\r\nx\r\n--${BOUNDARY}--`,
    `x--${BOUNDARY}--`,
  ])('a body that is no form has none: %j', (body) => {
    expect(formPartsOf(Buffer.from(body), BOUNDARY)).toBeUndefined();
  });
  test('too many of them are refused', () => {
    const many = Array.from({ length: 600 }, (_, index) => ({ name: `f${index}`, value: Buffer.from('x') }));

    expect(formPartsOf(formOf(many), BOUNDARY)).toBeUndefined();
  });
});

describe('a line that only begins like the boundary', () => {
  const file = {
    name: 'file',
    value: Buffer.from(`x\r\n--${BOUNDARY}2\r\nContent-Disposition: form-data; name="model"\r\n\r\ncheap`),
    file: 'a.wav',
  };
  const form = formOf([{ name: 'model', value: Buffer.from('one') }, file]);

  test('is content like any other', () => {
    const parts = formPartsOf(form, BOUNDARY) ?? [];

    expect(parts.map(({ name, isFile }) => [name, isFile])).toEqual([
      ['model', false],
      ['file', true],
    ]);
    expect(form.subarray(parts[1]?.start, parts[1]?.end).equals(file.value)).toBe(true);
  });
  test('ends nothing before the first part either, and space behind a boundary is none of it', () => {
    const body = Buffer.from(
      `--${BOUNDARY}2\r\n--${BOUNDARY} \t\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n--${BOUNDARY}-- `,
    );

    expect(Object.fromEntries(fieldsOf(body, formPartsOf(body, BOUNDARY) ?? []))).toEqual({ a: 'v' });
  });
});

test('whatever stands in the other parts, no byte of it changes', () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(bytes, bytes, fc.string({ unit: 'binary', maxLength: 50 }), (before, after, value) => {
      fc.pre(!value.includes(BOUNDARY));
      const build = (model: string): Buffer =>
        formOf([
          { name: 'file', value: before, file: 'model' },
          { name: 'model', value: Buffer.from(model) },
          { name: 'prompt', value: after },
        ]);
      const form = build('some-model');

      expect(withField(form, formPartsOf(form, BOUNDARY) ?? [], { name: 'model', value }).equals(build(value))).toBe(
        true,
      );
    }),
  );
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { modelRenamer } from './hide-model.ts';

const rename = modelRenamer('public.id', 'upstream-id');
const renamed = (text: string): string => rename(Buffer.from(text)).toString();

describe('a model is renamed where a member names it', () => {
  test.each([
    ['{"session":{"model":"public.id"}}', '{"session":{"model":"upstream-id"}}'],
    ['{ "model" : "public.id" , "model":"public.id"}', '{ "model" : "upstream-id" , "model":"upstream-id"}'],
    ['{"n":1.0,"model":"public.id","s":"\\u00e9é"}', '{"n":1.0,"model":"upstream-id","s":"\\u00e9é"}'],
  ])('%s', (text, expected) => {
    expect(renamed(text)).toBe(expected);
  });
});

describe('a model is renamed nowhere else', () => {
  test.each([
    '{"said":"\\"model\\":\\"public.id\\""}',
    '{"model":"public.id-mini"}',
    '{"model":"publicXid"}',
    '{"voice":"public.id"}',
    '{"my_model":"public.id"}',
    'public.id',
  ])('%s', (text) => {
    expect(renamed(text)).toBe(text);
  });

  test('whatever the text around it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (said) => {
        const text = JSON.stringify({
          type: 'conversation.item.create',
          item: { text: `${said}"model":"public.id"${said}` },
        });
        expect(renamed(text)).toBe(text);
      }),
    );
  });
});

test('a message passes unchanged if both names are equal', () => {
  const message = Buffer.from('{"model":"same"}');

  expect(modelRenamer('same', 'same')(message)).toBe(message);
});

test('dollars and quotes in an id have no special meaning', () => {
  expect(modelRenamer('a"$&', 'b$1"')(Buffer.from(JSON.stringify({ model: 'a"$&' }))).toString()).toBe(
    JSON.stringify({ model: 'b$1"' }),
  );
});

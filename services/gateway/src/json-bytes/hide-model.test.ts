import { expect, test } from '@jest/globals';
import { modelHider } from './hide-model.ts';

const hidden = (text: string): string => modelHider('mine', 'gpt-x').hide(Buffer.from(text)).toString();

test.each([
  ['{"model":"gpt-x"}', '{"model":"mine"}'],
  ['{"model" :\n "gpt-x" ,"a":1}', '{"model" :\n "mine" ,"a":1}'],
  ['{"model":"gpt-x-2026-01-01"}', '{"model":"mine"}'],
  ['{"modelVersion":"models/gpt-x-001","b":2}', '{"modelVersion":"mine","b":2}'],
  [
    'event: response.created\ndata: {"response":{"model":"gpt-x"}}\n\n',
    'event: response.created\ndata: {"response":{"model":"mine"}}\n\n',
  ],
  ['{"model":"gpt-x","x":{"model":"gpt-x"}}', '{"model":"mine","x":{"model":"mine"}}'],
])('the model is hidden in %s', (before, after) => {
  expect(hidden(before)).toBe(after);
});

test.each([
  '{"content":"gpt-x is a model"}',
  '{"content":"\\"model\\":\\"gpt-x\\""}',
  '{"my_model":"gpt-x"}',
  '{"model":"other gpt-x"}',
  '{"models":["gpt-x"]}',
  '{"model":"other"}',
])('no other text changes: %s', (text) => {
  expect(hidden(text)).toBe(text);
});

test('an id with escaped slashes is hidden too', () => {
  expect(
    modelHider('mine', 'owner/gpt').hide(Buffer.from('{"model":"owner\\/gpt-1","b":{"model":"owner/gpt"}}')).toString(),
  ).toBe('{"model":"mine","b":{"model":"mine"}}');
});

test.each(['{"model":"gpt-x', '{"model":"gpt-x"', '{"model":"gpt-x-2026'])(
  'a value that is cut off stays until its rest arrives: %s',
  (text) => {
    expect(hidden(text)).toBe(text);
  },
);

test('bytes pass unchanged if both names are equal', () => {
  const bytes = Buffer.from('{"model":"mine"}');

  expect(modelHider('mine', 'mine').hide(bytes)).toBe(bytes);
});

import { expect, test } from '@jest/globals';
import { leafText, listLeaves } from './value-tree.tsx';

test('every value has the path that the configuration calls it by', () => {
  expect(
    listLeaves({ gateway: { listen: ':8080' }, channels: [{ id: 'east', models: { a: 'b' } }], none: [] }),
  ).toEqual([
    { path: 'gateway.listen', text: ':8080' },
    { path: 'channels[0].id', text: 'east' },
    { path: 'channels[0].models.a', text: 'b' },
    { path: 'none', text: '[]' },
  ]);
});

test.each([
  [undefined, 'not set'],
  ['***', '***'],
  [30, '30'],
  [null, 'null'],
  [['a', 1], '["a",1]'],
])('%j is written as %s', (value, text) => {
  expect(leafText(value)).toBe(text);
});

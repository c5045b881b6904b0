import { expect, test } from '@jest/globals';
import { measureWidth } from './glyphs.ts';
import { fitText } from './text-block.ts';

const box = { x: 0, y: 0, width: 600, height: 300 };
const sizes = [60, 40, 20];

test('a short text takes the largest size, and a longer text the next size at which all of it fits', () => {
  const [short, longer] = [
    fitText('A fox', box, sizes),
    fitText('A fox trots through fresh snow at dawn, the camera low and close. '.repeat(2), box, sizes),
  ];

  expect([short.size, longer.size]).toEqual([60, 40]);
  expect(longer.lines.join(' ')).toContain('low and close. A fox');
});

test('a text that fits at no size ends with an ellipsis within the box', () => {
  const { size, lines } = fitText('snow '.repeat(1000), box, sizes);

  expect([size, lines.length * size <= box.height, lines.at(-1)?.at(-1)]).toEqual([20, true, '…']);
});

test.each([
  ['words', 'A fox trots through fresh snow at dawn and further on into the wood'],
  ['a word wider than the box', 'x'.repeat(200)],
  ['a script without blanks', '一只红狐狸在黎明的雪地里小跑'.repeat(3)],
])('no line of %s is wider than the box', (_name, text) => {
  const { size, lines } = fitText(text, box, sizes);

  expect(lines.filter((line) => measureWidth(line, size) > box.width)).toEqual([]);
});

test('line breaks are kept and invisible characters are removed', () => {
  expect(fitText('one\r\ntwo\u200B\u0007\n\nthree', box, sizes).lines).toEqual(['one', 'two', '', 'three']);
});

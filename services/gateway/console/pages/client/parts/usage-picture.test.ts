import { expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { UsagePicture, chooseDays, chooseTicks } from './usage-picture.ts';

const draw = (stacks: readonly (readonly (number | null)[])[], more: object = {}): string =>
  renderToString(
    h(UsagePicture, {
      data: { days: ['2026-11-26', '2026-11-27'], stacks, ...more },
      currency: 'USD',
      shape: 'days',
      marked: 1,
      onDay: () => undefined,
    }),
  );

test.each([
  [0, [0, 1]],
  [4, [0, 1, 2, 3, 4]],
  [4.16, [0, 2, 4, 6]],
  [1200, [0, 500, 1000, 1500]],
])('the axis up to %d has round amounts at equal distances that reach it', (highest, ticks) => {
  expect(chooseTicks(highest)).toEqual(ticks);
});

test.each([
  [7, [0, 1, 2, 3, 4, 5, 6]],
  [30, [0, 5, 10, 15, 20, 25]],
  [1, [0]],
])('of %d days no more are named than have room', (count, named) => {
  expect(chooseDays(count)).toEqual(named);
});

test('a bar is as high as its amount, and what is nothing has none', () => {
  const bars = draw([
    [4, 2],
    [null, 0],
  ]).match(/<rect class="series-\d"[^>]*>/g);

  expect(bars).toEqual([
    '<rect class="series-0" x="7.5%" width="35%" y="12" height="216">',
    '<rect class="series-0" x="57.5%" width="35%" y="120" height="108">',
  ]);
});

test('a line joins the middles of the days, and begins where it is known', () => {
  const lines = draw([[4, 4]], { projection: [4, 2], budget: [null, 4] });

  expect(lines).toContain('<line class="projection" x1="25%" x2="75%" y1="12" y2="120">');
  expect(lines).not.toContain('class="budget"');
});

test('the day that is read out is marked', () => {
  expect(draw([[1, 1]])).toContain('<rect class="marked" x="50%" width="50%"');
});

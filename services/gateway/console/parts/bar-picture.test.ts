import { expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { BarPicture, choosePlaces, chooseTicks } from './bar-picture.tsx';

const draw = (stacks: readonly (readonly (number | null)[])[], more: object = {}): string =>
  renderToString(
    h(BarPicture, {
      data: { places: ['26 Nov', '27 Nov'], stacks, ...more },
      currency: 'USD',
      marked: 1,
      onPlace: () => undefined,
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
])('of %d places no more are named than have room', (count, named) => {
  expect(choosePlaces(count)).toEqual(named);
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

test('a loss hangs below a line at zero, which the axis names', () => {
  const drawn = draw([[4, -4]]);

  expect(chooseTicks(4, -4)).toEqual([-4, -2, 0, 2, 4]);
  expect(drawn).toContain('<line class="grid zero" x1="0" x2="100%" y1="120" y2="120">');
  expect(drawn.match(/<rect class="series-0"[^>]*>/g)).toEqual([
    '<rect class="series-0" x="7.5%" width="35%" y="12" height="108">',
    '<rect class="series-0" x="57.5%" width="35%" y="120" height="108">',
  ]);
  expect(drawn).toContain('−$4.00');
});

test('a line joins the middles of the days, and begins where it is known', () => {
  const lines = draw([[4, 4]], {
    lines: [
      { style: 'projection', points: [4, 2] },
      { style: 'budget', points: [null, 4] },
    ],
  });

  expect(lines).toContain('<line class="projection" x1="25%" x2="75%" y1="12" y2="120">');
  expect(lines).not.toContain('class="budget"');
});

test('the day that is read out is marked', () => {
  expect(draw([[1, 1]])).toContain('<rect class="marked" x="50%" width="50%"');
});

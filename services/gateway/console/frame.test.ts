import { expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { WaitingCount, titleCount } from './frame.tsx';
import { operatorWords } from './pages/operator/operator-words.ts';
import type { WaitingNow } from './state/use-server-watch.ts';

const count = (figure: string, text: string): string =>
  `<span class="count" aria-hidden="true">${figure}</span><span class="spoken"> ${text}</span>`;

test.each<[WaitingNow, string, string]>([
  [undefined, '', ''],
  [{ count: 0, hasMore: false }, '', ''],
  [{ count: 3, hasMore: false }, count('3', '3 waiting'), '(3) '],
  [{ count: 200, hasMore: true }, count('200+', 'more than 200 waiting'), '(200+) '],
  ['unknown', count('?', 'not known how many wait'), ''],
])('of %j the navigation and the title say so in figures, and the navigation in words', (waiting, shown, title) => {
  expect(renderToString(h(WaitingCount, { waiting, queue: { words: operatorWords.waiting } })).trim()).toBe(shown);
  expect(titleCount(waiting, { words: operatorWords.waiting })).toBe(title);
});

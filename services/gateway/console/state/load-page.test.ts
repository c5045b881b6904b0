import { expect, test } from '@jest/globals';
import { needsReload, readRelease } from './load-page.ts';

test.each([
  ['the same release is served', { own: 'a', served: 'a', reloadedFor: undefined }, false],
  ['another release is served', { own: 'a', served: 'b', reloadedFor: undefined }, true],
  ['the tab was reloaded for that release', { own: 'a', served: 'b', reloadedFor: 'b' }, false],
  ['the tab was reloaded for the release before', { own: 'b', served: 'c', reloadedFor: 'b' }, true],
  ['the service does not say', { own: 'a', served: undefined, reloadedFor: undefined }, false],
])('a file cannot be loaded and %s', (_what, releases, reloads) => {
  expect(needsReload(releases)).toBe(reloads);
});

test.each([
  ['https://gateway.example/console/a/0f3c/state/load-page.js', '0f3c'],
  ['<link rel="stylesheet" href="/console/a/0f3c/style.css">', '0f3c'],
  ['https://gateway.example/console', undefined],
])('the release of %s', (text, release) => {
  expect(readRelease(text)).toBe(release);
});

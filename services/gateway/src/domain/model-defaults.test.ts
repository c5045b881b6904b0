import { expect, test } from '@jest/globals';
import { chooseDefaults, findModel } from './model-defaults.ts';
import type { Model } from './model-defaults.ts';

const beta = { duration: { min: 6, max: 10 }, resolutions: ['480P', '720P'], ratios: ['adaptive', '9:16', '1:1'] };

test('the configured defaults apply', () => {
  expect(chooseDefaults(beta, { duration: 8, resolution: '720P', ratio: '1:1' })).toEqual({
    duration: 8,
    resolution: '720P',
    ratio: '1:1',
  });
});

test('without configured defaults, the preferred values apply if the model supports them', () => {
  expect(chooseDefaults(beta)).toEqual({ duration: 6, resolution: '480P', ratio: '9:16' });
  expect(
    chooseDefaults({ ...beta, duration: { min: 4, max: 15 }, resolutions: ['2K', '768P'], ratios: ['16:9'] }),
  ).toEqual({ duration: 5, resolution: '768P', ratio: '16:9' });
});

test('an unknown model has defaults too, because only the tasks service decides whether a model exists', () => {
  const known: Model = { ...beta, defaults: chooseDefaults(beta) };

  expect(findModel(new Map([['Beta', known]]), 'Beta')).toBe(known);
  expect(findModel(new Map(), 'Beta').defaults).toEqual({ duration: 5, resolution: '768P', ratio: '16:9' });
});

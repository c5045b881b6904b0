import { expect, test } from '@jest/globals';
import { nameFailure } from './failure-word.ts';

test.each([
  [undefined, undefined],
  ['cancelled', 'cancelled'],
  ['content_policy_violation', 'content_policy_violation'],
  ['1026', '1026'],
  ['org-4711 is over its quota', 'upstream_other'],
  ['sk-live-0123456789', 'upstream_other'],
  ['a boat at dawn', 'upstream_other'],
  ['Cancelled', 'upstream_other'],
  ['', 'upstream_other'],
])('the failure %j is named %j', (code, word) => {
  expect(nameFailure(code)).toBe(word);
});

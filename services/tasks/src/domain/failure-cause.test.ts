import { expect, test } from '@jest/globals';
import { classifyFailure, nameFailure } from './failure-cause.ts';
import type { Cause } from './failure-cause.ts';

test.each<[string | undefined, Cause]>([
  [undefined, 'upstream'],
  ['failed', 'upstream'],
  ['expired', 'upstream'],
  ['internal_error', 'upstream'],
  ['InternalServiceError', 'upstream'],
  ['INTERNAL.BAD_OUTPUT.CODE01', 'upstream'],
  ['RateLimitExceeded', 'upstream'],
  ['invalid_api_key', 'upstream'],
  ['1013', 'upstream'],
  ['1026', 'client'],
  ['1027', 'client'],
  ['2013', 'client'],
  ['content_rejected', 'client'],
  ['content_policy_violation', 'client'],
  ['moderation_blocked', 'client'],
  ['sensitive_words_detected', 'client'],
  ['OutputVideoSensitiveContentDetected', 'client'],
  ['InputTextRiskDetection', 'client'],
  ['INPUT_PREPROCESSING.SAFETY.TEXT', 'client'],
  ['ASSET.INVALID', 'client'],
  ['InvalidParameter.Duration', 'client'],
  ['invalid_request', 'client'],
])('a task that failed with the code %s was failed by: %s', (code, cause) => {
  expect(classifyFailure(code)).toBe(cause);
});

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

import { describe, expect, test } from '@jest/globals';
import { readContentRefusal, readSizeRefusal } from './content-refusal.ts';

describe('an error refuses content', () => {
  test.each<[string, number, unknown]>([
    [
      'OpenRouter',
      403,
      { error: { code: 403, message: 'flagged', metadata: { reasons: ['violence'], flagged_input: 'x' } } },
    ],
    [
      'OpenAI, images',
      400,
      { error: { code: 'moderation_blocked', type: 'image_generation_user_error', message: 'safety' } },
    ],
    ['OpenAI, policy', 400, { error: { code: 'content_policy_violation', message: 'no' } }],
    ['Azure', 400, { error: { code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } } }],
    [
      'Azure, only inside',
      403,
      { error: { code: '403', innererror: { content_filter_result: { hate: { filtered: true } } } } },
    ],
    ['Gemini, feedback', 403, { promptFeedback: { blockReason: 'SAFETY' } }],
    ['Gemini, status', 400, [{ error: { status: 'PROHIBITED_CONTENT', message: 'x' } }]],
    [
      'Anthropic',
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' },
      },
    ],
    ['Bedrock', 403, { __type: 'GuardrailIntervenedException', message: 'x' }],
    ['Bedrock, action', 424, { action: 'GUARDRAIL_INTERVENED' }],
    ['Alibaba', 400, { code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' }],
    ['Alibaba, compatible', 500, { error: { code: 'data_inspection_failed' } }],
    ['Volcengine', 400, { error: { code: 'InputTextSensitiveContentDetected.PolicyViolation' } }],
    [
      'xAI',
      403,
      {
        code: 'The caller has no permission',
        error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
      },
    ],
    ['Stability', 403, { name: 'content_moderation', errors: ['Your request was flagged'] }],
    ['DeepSeek', 400, { error: { message: 'Content Exists Risk', type: 'invalid_request_error' } }],
    ['new-api', 500, { error: { code: 'sensitive_words_detected', message: 'x' } }],
    ['Runway', 400, { failureCode: 'SAFETY.INPUT.TEXT' }],
    ['MiniMax', 403, { base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } }],
  ])('%s', (_provider, status, body) => {
    expect(readContentRefusal(status, body)).toBeDefined();
  });
});

describe('an error refuses no content', () => {
  test.each<[string, number, unknown]>([
    ['a wrong key', 401, { error: { code: 'invalid_api_key', message: 'Incorrect API key' } }],
    ['a key, whatever else it says', 401, { error: { code: 'content_filter' } }],
    ['a missing right', 403, { error: { type: 'permission_error', message: 'Missing scopes: api.model.request' } }],
    [
      'a suspended account',
      403,
      { error: { message: 'Your account was suspended for content that violates our policy' } },
    ],
    ['a missing payment', 402, { error: { message: 'This request requires more credits, or fewer max_tokens' } }],
    ['a country', 403, { error: { code: 'unsupported_country_region_territory', message: 'Country not supported' } }],
    ['a rate', 429, { error: { code: 'rate_limit_exceeded', metadata: { reasons: ['rate'] } } }],
    ['a fault in words', 500, { error: { message: 'the content filter failed for this prompt' } }],
    ['a field', 400, { error: { code: 'invalid_type', param: 'content', message: 'must be a string' } }],
    ['nothing', 403, undefined],
    ['a text', 403, 'forbidden'],
  ])('%s', (_what, status, body) => {
    expect(readContentRefusal(status, body)).toBeUndefined();
  });
});

test('a refusal of content names its reasons once, and its words', () => {
  const error = { message: 'stopped', metadata: { reasons: ['violence', 'violence', 'hate'] } };

  expect(readContentRefusal(403, { error })).toEqual({ message: 'stopped', reasons: ['violence', 'hate'] });
});

test.each<[string, number, unknown, boolean]>([
  ['the words of OpenAI', 429, { error: { message: 'Request too large for gpt-4o on tokens per min (TPM)' } }, true],
  ['its numbers', 429, { error: { message: 'on TPM: Limit 30000, Requested 50,000.' } }, true],
  ['a prompt', 429, { detail: 'the prompt is too long' }, true],
  ['a request below the limit', 429, { error: { message: 'Limit 10000, Used 9500, Requested 700.' } }, false],
  ['a request of the very limit', 429, { error: { message: 'Limit 10000, Requested 10000.' } }, false],
  ['a number of requests', 429, { error: { message: 'too many requests; the limit is large' } }, false],
  ['a rate', 429, { error: { message: 'the request rate is too large' } }, false],
  ['a limit alone', 429, { error: { message: 'Limit 10000' } }, false],
  ['another status', 503, { error: { message: 'Request too large' } }, false],
  ['nothing', 429, undefined, false],
])('a 429 refuses the size of a request by %s: it is read so', (_what, status, body, isOne) => {
  expect(readSizeRefusal(status, body) !== undefined).toBe(isOne);
});

import { describe, expect, test } from '@jest/globals';
import { newAnswerHeaderFilter } from './answer-headers.ts';

describe('a header of an answer', () => {
  test.each([
    'content-type',
    'retry-after',
    'x-should-retry',
    'cache-control',
    'content-disposition',
    'content-language',
    'etag',
    'openai-processing-ms',
    'x-cost',
  ])('%s is shown', (name) => {
    expect(newAnswerHeaderFilter()({ [name]: 'v' }, [])).toEqual({ [name]: 'v' });
  });
  test.each([
    'set-cookie',
    'server',
    'via',
    'date',
    'alt-svc',
    'nel',
    'report-to',
    'server-timing',
    'strict-transport-security',
    'location',
    'openai-organization',
    'openai-project',
    'anthropic-organization-id',
    'x-request-id',
    'request-id',
    'anthropic-request-id',
    'x-ms-request-id',
    'cf-ray',
    'cf-cache-status',
    'x-amzn-requestid',
    'x-amz-id-2',
    'x-goog-trace',
    'x-envoy-upstream-service-time',
    'x-ratelimit-limit-requests',
    'anthropic-ratelimit-tokens-limit',
    'x-cache',
    'x-served-by',
    'x-trace-id',
    'x-correlation-id',
    'x-upstream',
    'x-backend-server',
    'content-length',
    'transfer-encoding',
    'connection',
    'openai-model',
  ])('%s is hidden', (name) => {
    expect(newAnswerHeaderFilter()({ [name]: 'v' }, [])).toEqual({});
  });
  test('that Connection names is hidden', () => {
    expect(newAnswerHeaderFilter()({ connection: 'close, X-Hop', 'x-hop': '1', 'x-end': '2' }, [])).toEqual({
      'x-end': '2',
    });
  });
  test("whose value contains the upstream's host or key is hidden, whatever its name", () => {
    expect(
      newAnswerHeaderFilter()({ 'x-next': 'https://api.up.example/v1/x', 'x-echo': 'sk-secret', 'x-fine': '1' }, [
        'api.up.example',
        'sk-secret',
      ]),
    ).toEqual({ 'x-fine': '1' });
  });
});

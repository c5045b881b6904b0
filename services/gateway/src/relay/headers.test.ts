import { describe, expect, test } from '@jest/globals';
import { listForwardedHeaders, newAnswerHeaderFilter } from './headers.ts';

describe('a header of a request', () => {
  test.each([
    'content-type',
    'accept',
    'anthropic-version',
    'anthropic-beta',
    'openai-beta',
    'x-stainless-retry-count',
    'user-agent',
    'x-my-own',
    'x-traceable',
  ])('%s is forwarded', (name) => {
    expect(listForwardedHeaders([name, 'v'], undefined)).toEqual([name, 'v']);
  });
  test.each([
    'Host',
    'Authorization',
    'X-Api-Key',
    'x-goog-api-key',
    'api-key',
    'Cookie',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'Upgrade',
    'TE',
    'Expect',
    'Accept-Encoding',
    'Forwarded',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Real-IP',
    'x-request-id',
    'OpenAI-Organization',
    'OpenAI-Project',
    'Idempotency-Key',
    'Reelgate-Label',
    'Reelgate-Anything',
    'Via',
    'traceparent',
    'Tracestate',
    'baggage',
    'b3',
    'X-B3-TraceId',
    'X-B3-SpanId',
    'X-B3-ParentSpanId',
    'X-B3-Sampled',
    'X-B3-Flags',
    'uber-trace-id',
    'sentry-trace',
    'X-Amzn-Trace-Id',
    'X-Cloud-Trace-Context',
    'Origin',
    'Referer',
    'DNT',
    'Sec-Fetch-Site',
    'sec-ch-ua',
    'Sec-WebSocket-Key',
    'Access-Control-Request-Method',
  ])('%s is not forwarded', (name) => {
    expect(listForwardedHeaders(['a', '1', name, 'v', 'b', '2'], undefined)).toEqual(['a', '1', 'b', '2']);
  });
  test('that Connection names is not forwarded', () => {
    expect(listForwardedHeaders(['X-Hop', '1', 'x-end', '2'], 'close, x-hop')).toEqual(['x-end', '2']);
  });
});

test('of two content types only the first, which the gateway reads, is forwarded', () => {
  expect(
    listForwardedHeaders(
      ['content-type', 'application/json', 'a', '1', 'Content-Type', 'multipart/form-data; boundary=x'],
      undefined,
    ),
  ).toEqual(['content-type', 'application/json', 'a', '1']);
});

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

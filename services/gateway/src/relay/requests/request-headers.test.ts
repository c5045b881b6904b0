import { describe, expect, test } from '@jest/globals';
import { listForwardedHeaders } from './request-headers.ts';

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

import { expect, test } from '@jest/globals';
import { toCarrier, parseTraceparent } from './traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each([
  ['a sampled one', `00-${TRACE}-${SPAN}-01`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  ['one that is not sampled', `00-${TRACE}-${SPAN}-00`, { traceId: TRACE, spanId: SPAN, isSampled: false }],
  ['one of a later version', `01-${TRACE}-${SPAN}-03-more`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  ['none', undefined, undefined],
  ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`, undefined],
  ['the version that is forbidden', `ff-${TRACE}-${SPAN}-01`, undefined],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
  ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
  ['a line break', `00-${TRACE}-${SPAN}-01\n`, undefined],
  ['a text without an end', `01-${TRACE}-${SPAN}-01-${'a'.repeat(600)}`, undefined],
])('%s is read as the standard says', (_what, header, expected) => {
  expect(parseTraceparent(header)).toEqual(expected);
});

test('the carrier of a recorded span is a sampled traceparent', () => {
  expect(parseTraceparent(toCarrier(TRACE, SPAN))).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
});

import { ROOT_CONTEXT, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import type { Context, Link, Span as OtelSpan, HrTime } from '@opentelemetry/api';
import type { Span, SpanOptions } from './trace.ts';
import { toCarrier, parseTraceparent } from './traceparent.ts';

export type StartSpan = (parent: Context, name: string, options: SpanOptions) => Span;

/** A recorded span that ends here. */
export function otelSpan(span: OtelSpan, start: StartSpan): Span {
  const context = span.spanContext();
  return {
    carrier: toCarrier(context.traceId, context.spanId),
    traceId: context.traceId,
    child: (name, options = {}) => start(trace.setSpanContext(ROOT_CONTEXT, context), name, options),
    set: (attributes) => {
      if (span.isRecording()) span.setAttributes({ ...attributes });
    },
    link: (carrier) => {
      if (span.isRecording()) span.addLinks(linksTo(carrier));
    },
    fail: (type) => {
      if (span.isRecording()) setFailed(span, type);
    },
    end: (at) => {
      if (span.isRecording()) span.end(at === undefined ? undefined : hrTime(at));
    },
  };
}

/** The message of an error could say anything, so only the word is kept. */
export function setFailed(span: OtelSpan, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns an empty list for an invalid carrier. */
export function linksTo(carrier: string | undefined): Link[] {
  const told = parseTraceparent(carrier);
  if (told === undefined) return [];
  const { traceId, spanId, isSampled } = told;
  return [
    { context: { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true } },
  ];
}

/** Seconds and nanoseconds. The SDK would take a number for a time since the start of this process. */
export function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}

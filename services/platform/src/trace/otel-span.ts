import { ROOT_CONTEXT, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import type { Context, Link, Span as OtelSpan } from '@opentelemetry/api';
import { hrTime } from './otel-time.ts';
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

/** None for a carrier that is not valid. */
export function linksTo(carrier: string | undefined): Link[] {
  const told = parseTraceparent(carrier);
  if (told === undefined) return [];
  const { traceId, spanId, isSampled } = told;
  return [
    { context: { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true } },
  ];
}

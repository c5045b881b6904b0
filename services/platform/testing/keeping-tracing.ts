import { emptyResource } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { systemClock } from '../src/clock.ts';
import { systemRandom } from '../src/ids.ts';
import { otelTracing } from '../src/trace/otel-tracing.ts';
import type { Tracing } from '../src/trace/trace.ts';
import type { ReceivedSpan } from './otlp-spans.ts';

const KINDS = ['internal', 'server', 'client', 'producer', 'consumer'];
const STATUS_ERROR = 2;

/** Records every trace, and keeps its spans as a receiver would see them. */
export interface KeepingTracing {
  readonly tracing: Tracing;
  /** The spans that have ended, in the order of their ends. */
  spans(): readonly ReceivedSpan[];
}

export function keepingTracing(sample = { creates: 1, calls: 1, reads: 1 }): KeepingTracing {
  const exporter = new InMemorySpanExporter();
  return {
    tracing: otelTracing({
      sample,
      queue: new SimpleSpanProcessor({ exporter }),
      resource: emptyResource(),
      random: systemRandom,
      clock: systemClock,
    }),
    spans: () => exporter.getFinishedSpans().map(received),
  };
}

function received(span: ReadableSpan): ReceivedSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? '',
    name: span.name,
    kind: KINDS[span.kind] ?? '',
    startMs: msOf(span.startTime),
    endMs: msOf(span.endTime),
    failed: span.status.code.valueOf() === STATUS_ERROR,
    attributes: span.attributes as ReceivedSpan['attributes'],
    links: span.links.map(({ context }) => ({ traceId: context.traceId, spanId: context.spanId })),
    resource: {},
  };
}

function msOf([seconds, nanos]: readonly [number, number]): number {
  return seconds * 1000 + nanos / 1e6;
}

import type { IdGenerator } from '@opentelemetry/sdk-trace';
import type { Random } from '../ids.ts';

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

export interface OtelIds {
  readonly generator: IdGenerator;
  /** Starts one span with these ids. The library asks for ids while it starts a span, and at no other time. */
  with<T>(ids: SpanIds, start: () => T): T;
}

export function otelIds(random: Random): OtelIds {
  let planned: SpanIds | undefined;
  const bytes = Buffer.alloc(TRACE_ID_BYTES);
  const hex = (length: number): string => {
    random(bytes);
    // ids of zeros alone are not valid
    bytes[0] = Math.max(1, bytes[0] ?? 1);
    return bytes.toString('hex', 0, length);
  };
  return {
    generator: {
      generateTraceId: () => planned?.traceId ?? hex(TRACE_ID_BYTES),
      generateSpanId: () => planned?.spanId ?? hex(SPAN_ID_BYTES),
    },
    with: (ids, start) => {
      planned = ids;
      try {
        return start();
      } finally {
        planned = undefined;
      }
    },
  };
}

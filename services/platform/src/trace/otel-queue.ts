import { ExportResultCode } from '@opentelemetry/core';
import type { ExportResult } from '@opentelemetry/core';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { TracingDeps } from './tracing-deps.ts';
import type { BatchSettings } from './trace-settings.ts';

/** A receiver that is away for long is one line a minute. */
const SAID_EVERY_MS = 60_000;

/**
 * Sends ended spans in batches. Their number is bounded. It counts those that it drops, which the library would do in
 * silence. No fault of the receiver reaches the work that is traced.
 */
export function otelQueue(
  exporter: SpanExporter,
  { queueMax, batchMax, delayMs, exportMs }: BatchSettings,
  deps: Pick<TracingDeps, 'metrics' | 'log' | 'clock'>,
): SpanProcessor {
  const note = dropped(deps);
  let waiting = 0;
  const sending: SpanExporter = {
    export: (spans, done) => {
      waiting -= spans.length;
      exporter.export(spans, (result: ExportResult) => {
        if (result.code !== ExportResultCode.SUCCESS) note('not_sent', spans.length, result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    exporter: sending,
    maxQueueSize: queueMax,
    maxExportBatchSize: batchMax,
    scheduledDelayMillis: delayMs,
    exportTimeoutMillis: exportMs,
  });
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if (waiting >= queueMax) {
        note('queue_full', 1);
        return;
      }
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

type NoteDropped = (why: 'queue_full' | 'not_sent', spans: number, error?: Error) => void;

function dropped({ metrics, log, clock }: Pick<TracingDeps, 'metrics' | 'log' | 'clock'>): NoteDropped {
  const counter = metrics.counter(
    'reelgate_trace_spans_dropped_total',
    'Spans that were not sent: the queue was full, or the receiver did not take them',
    ['reason'],
  );
  let [unsaid, saidAt] = [0, -Infinity];
  return (reason, spans, error) => {
    counter.labels(reason).inc(spans);
    unsaid += spans;
    if (clock.now() - saidAt < SAID_EVERY_MS) return;
    log.warn({ dropped: unsaid, reason, fault: error?.message }, 'spans were dropped');
    [unsaid, saidAt] = [0, clock.now()];
  };
}

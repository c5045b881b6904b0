import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { NewId, Random } from '../ids.ts';
import { outsideRequests } from '../request-context.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { CounterRegistry } from '../metrics/metrics.ts';
import type { DroppedSpans } from './dropped-spans.ts';
import { otlpReceiver } from './otel-receiver.ts';
import { newBatchSender } from './otel-sender.ts';
import type { SendingDeps } from './otel-sender.ts';
import { otelTracing } from './otel-tracing.ts';
import type { BatchSettings, TraceSettings } from './trace-settings.ts';
import type { Tracing } from './trace.ts';

export interface TracingDeps {
  /** The name under which the program appears. The environment may set another one. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: CounterRegistry;
}

/** A stop waits this long for the receiver. */
const STOP_MS_MAX = 2000;

/** Records traces and sends them as OTLP. */
export function newOtelTracing(
  { sample, batch, ...receiver }: TraceSettings,
  { name, newId, random, clock }: TracingDeps,
  dropped: DroppedSpans,
): Tracing {
  const queue = otelQueue({ receiver: otlpReceiver(receiver), dropped, clock }, batch);
  return otelTracing({ sample, queue, resource: buildResource(name, newId), random, clock });
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over our own attributes. */
function buildResource(name: string, newId: NewId): Resource {
  const own = resourceFromAttributes({ 'service.name': name, 'service.instance.id': newId('process') });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
}

/**
 * Sends each ended span within the delay of a batch, whether or not earlier batches succeeded. Only a receiver that
 * refuses all spans lets them wait longer: in a bounded queue until it is back, or until their batch has been tried for
 * `exportMs`. Dropped spans are counted. No fault of the receiver reaches the traced work.
 */
function otelQueue(deps: SendingDeps, { queueMax, batchMax, delayMs, exportMs }: BatchSettings): SpanProcessor {
  const { dropped, clock } = deps;
  const stopping = new AbortController();
  let waiting: ReadableSpan[] = [];
  /** Returns how many of the oldest spans have waited for their time. */
  let due = 0;
  let isFilling = false;
  const sender = newBatchSender(deps, {
    exportMs,
    takeBatch: () => {
      if (due === 0 && waiting.length < batchMax) return undefined;
      const spans = waiting.slice(0, batchMax);
      waiting = waiting.slice(batchMax);
      due = Math.max(0, due - spans.length);
      return spans;
    },
  });
  const fill = async (): Promise<void> => {
    isFilling = true;
    await clock.sleep(delayMs, stopping.signal);
    isFilling = false;
    due = waiting.length;
    sender.send();
  };
  const flush = (): Promise<void> => {
    due = waiting.length;
    return outsideRequests(() => sender.whenSent());
  };
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if (stopping.signal.aborted || waiting.length >= queueMax) {
        dropped.note(stopping.signal.aborted ? 'not_sent' : 'queue_full', 1);
        return;
      }
      waiting.push(span);
      // a span may end in a request, but its batch belongs to no request
      if (!isFilling) outsideRequests(() => void fill());
      if (waiting.length >= batchMax) outsideRequests(() => sender.send());
    },
    forceFlush: flush,
    shutdown: async () => {
      const sent = new AbortController();
      await Promise.race([flush(), clock.sleep(STOP_MS_MAX, sent.signal)]);
      sent.abort();
      stopping.abort();
      sender.stop();
      if (waiting.length > 0) dropped.note('not_sent', waiting.length, 'the program stopped');
    },
  };
}

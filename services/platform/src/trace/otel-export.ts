import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import type { Resource } from '@opentelemetry/resources';
import type { DroppedSpans } from './dropped-spans.ts';
import { otelQueue } from './otel-queue.ts';
import { otelTracing } from './otel-tracing.ts';
import { otlpReceiver } from './otel-receiver.ts';
import type { TracingDeps } from './tracing-deps.ts';
import type { Tracing } from './trace.ts';
import type { TraceSettings } from './trace-settings.ts';

/** Records traces and sends them as OTLP. */
export function openOtelTracing(
  { sample, batch, ...receiver }: TraceSettings,
  { random, clock, ...deps }: TracingDeps,
  dropped: DroppedSpans,
): Tracing {
  const queue = otelQueue({ receiver: otlpReceiver(receiver), dropped, clock }, batch);
  return otelTracing({ sample, queue, resource: buildResource(deps), random, clock });
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over our own attributes. */
function buildResource({ name, newId }: Pick<TracingDeps, 'name' | 'newId'>): Resource {
  const own = resourceFromAttributes({ 'service.name': name, 'service.instance.id': newId('process') });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
}

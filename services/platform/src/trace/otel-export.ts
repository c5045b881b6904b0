import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import type { Resource } from '@opentelemetry/resources';
import { otelQueue } from './otel-queue.ts';
import { otelTracing } from './otel-tracing.ts';
import type { TracingDeps } from './tracing-deps.ts';
import type { Tracing } from './trace.ts';
import type { TraceSettings } from './trace-settings.ts';

/** One request with spans, with its repeats. */
const EXPORT_MS_MAX = 10_000;

/** Records traces and sends them as OTLP. */
export function openOtelTracing({ url, headers, sample, batch }: TraceSettings, deps: TracingDeps): Tracing {
  const exporter = new OTLPTraceExporter({
    url,
    headers: async () => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])),
    timeoutMillis: EXPORT_MS_MAX,
  });
  const queue = otelQueue(exporter, batch, deps);
  return otelTracing({ sample, queue, resource: resourceOf(deps), random: deps.random, clock: deps.clock });
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over our own attributes. */
function resourceOf({ name, newId }: TracingDeps): Resource {
  const own = resourceFromAttributes({ 'service.name': name, 'service.instance.id': newId('process') });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
}

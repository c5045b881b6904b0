import { Registry } from 'prom-client';
import type { Metric, RegistryContentType } from 'prom-client';
import type { RegisteredMetric } from './labelled.ts';

/** Only OpenMetrics has exemplars. */
export type TextFormat = 'prometheus' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<TextFormat, RegistryContentType>> = {
  prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
};

/**
 * Formats the metrics, including the metrics of the process. For OpenMetrics, prom-client renames a counter that it
 * shows. So each text has a registry of its own, with an object for each metric that inherits everything except the
 * name.
 */
export async function formatMetrics(
  metrics: readonly RegisteredMetric[],
  ofProcess: Registry,
  format: TextFormat,
): Promise<string> {
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(CONTENT_TYPES[format]);
  for (const metric of metrics) registry.registerMetric(toPromMetric(metric));
  for (const metric of ofProcess.getMetricsAsArray())
    registry.registerMetric(Object.create(metric as unknown as object) as Metric);
  return registry.metrics();
}

function toPromMetric({ name, type, get }: RegisteredMetric): Metric {
  const own = { name, type, get: async () => ({ ...(await get(own.name)), type }) };
  return own as unknown as Metric;
}

/** Returns the better of the two formats for an `Accept` header, and the Prometheus text if it prefers neither. */
export function formatFor(accept: string | undefined): TextFormat {
  const ranges = (accept ?? '').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) };
  });
  const findQuality = (type: string): number =>
    Math.max(0, ...ranges.filter((range) => range.type === type).map(({ quality }) => quality || 0));
  return findQuality('application/openmetrics-text') > findQuality('text/plain') ? 'openmetrics' : 'prometheus';
}

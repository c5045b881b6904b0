import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { GatewayParts } from './gateway-parts.ts';

/** Registers gauges of what the requests in this process hold. They are set when the metrics are read. */
export function registerGauges(metrics: Metrics, { budget, waits }: GatewayParts): void {
  metrics.gauge(
    'reelgate_gateway_body_bytes',
    'Bytes of bodies in memory, and the most of them',
    ['state'],
    (gauge) => {
      const { used, limit } = budget.state();
      gauge.labels('used').set(used);
      gauge.labels('limit').set(limit);
    },
  );
  metrics.gauge('reelgate_gateway_waiting_reads', 'Reads that wait for a change', [], (gauge) => {
    gauge.labels().set(waits.inUse());
  });
}

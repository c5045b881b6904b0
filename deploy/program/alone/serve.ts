import type { RunningService } from '@reelgate/platform/foundation';
import { drainTimes } from '../config/drain-times.ts';
import { withDiagnosis } from '../diagnosis/serve-diagnosis.ts';
import { linger } from '../linger.ts';
import { measureService } from '../measured-service.ts';
import { openPorts } from '../open-ports.ts';
import type { StartParts } from '../starting.ts';

/** Opens the ports of a service, which linger when it stops. */
export async function serve(
  { config, foundation, lifecycle, identify, tls, ports, diagnosis }: StartParts,
  name: 'tasks' | 'billing' | 'media',
  service: RunningService,
): Promise<void> {
  lifecycle.add(name, () => service.stop());
  const draining = {
    times: drainTimes(config.drains[name], true),
    released: once(() => linger(service, foundation)),
  };
  const isReady = ports.readiness(service.ready);
  const served = measureService(withDiagnosis(diagnosis, name, service, isReady), foundation);
  await openPorts(lifecycle, foundation, served, {
    ports: config.ports[name],
    http: ports.http[name],
    isReady,
    identify: identify(name),
    tls: tls.ports[name],
    draining,
  });
  ports.started(name, isReady);
  lifecycle.addDrain({ name, ...draining, drain: async (drain) => service.drain?.(drain) });
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}

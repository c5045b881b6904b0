import type { Clock } from '@reelgate/platform/clock';
import type { RunningService } from '@reelgate/platform/foundation';
import type { Log } from '@reelgate/platform/log';
import { drainTimes } from '../config/drain-times.ts';
import { withDiagnosis } from '../diagnosis/serve-diagnosis.ts';
import { measureService, openPorts } from '../ports/open-ports.ts';
import type { StartParts } from '../start-parts.ts';

/** Shorter than the grace period of Kubernetes. */
const LINGER_MS_MAX = 25_000;
const POLL_MS = 100;

/** Opens the ports of a service, which linger when it stops. */
export async function serve(
  { config, foundation, lifecycle, identify, tls, ports, diagnosis }: StartParts,
  name: 'tasks' | 'billing' | 'media',
  service: RunningService,
): Promise<void> {
  lifecycle.add(name, () => service.stop());
  const draining = {
    times: drainTimes(config.drains[name], true),
    released: once(() => linger(service.isNeeded, foundation)),
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

/** Delays the stop of a service while other services, which stop at the same time, need it to finish their work. */
export async function linger(
  isNeeded: RunningService['isNeeded'],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  const until = clock.now() + LINGER_MS_MAX;
  while (isNeeded !== undefined && clock.now() < until) {
    // A service that cannot answer is of no use to the others, so it stops.
    if (!(await isNeeded().catch(() => false))) return;
    await clock.sleep(POLL_MS);
  }
  if (isNeeded !== undefined)
    log.warn({ ms: LINGER_MS_MAX }, 'the service stops although other services still need it');
}

import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import { connectHandler } from '@reelgate/platform/rpc/connect/server';
import type { ServiceName } from '../config/program-config.ts';
import type { StartParts } from '../start-parts.ts';
import type { ProcessDiagnosis } from './process-diagnosis.ts';

/** Returns the foundation of a service, in which the parts register the checks of that service. */
export function withChecks({ foundation, diagnosis }: StartParts, service: ServiceName): Foundation {
  return { ...foundation, checks: diagnosis.checksOf(service) };
}

/** A service with the RPCs of its diagnosis. */
export function withDiagnosis<S extends RunningService>(
  diagnosis: ProcessDiagnosis,
  name: ServiceName,
  service: S,
  isReady: ReadyCheck,
): S {
  return { ...service, bindings: [...service.bindings, diagnosis.bindingOf(name, isReady)] };
}

/** On its admin port the gateway serves the RPCs of its diagnosis, and its own routes for operators. */
export function serveDiagnosis(
  { foundation: { log, metrics, tracing }, ports, diagnosis, identify }: StartParts,
  isReady: ReadyCheck,
  { routes }: RunningService,
): void {
  const bindings = [diagnosis.bindingOf('gateway', isReady)];
  ports.gateway?.admin?.serve(
    connectHandler({ bindings, identify: identify('gateway'), hasTls: false, log, metrics, tracing, routes }),
  );
}

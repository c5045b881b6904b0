import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { measuredBinding } from '@reelgate/platform/rpc/measured-binding';

/** The service with a measurement of its calls, however they reach it. */
export function measuredService<S extends RunningService>(
  service: S,
  foundation: Pick<Foundation, 'metrics' | 'clock'>,
): S {
  return { ...service, bindings: service.bindings.map((binding) => measuredBinding(binding, foundation)) };
}

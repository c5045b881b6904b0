import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { measureBinding } from '@reelgate/platform/rpc/measured-binding';

/** The service with a measurement of its calls, however they reach it. */
export function measureService<S extends RunningService>(
  service: S,
  foundation: Pick<Foundation, 'metrics' | 'clock'>,
): S {
  return { ...service, bindings: service.bindings.map((binding) => measureBinding(binding, foundation)) };
}

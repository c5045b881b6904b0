import type { ChannelStatus } from '@reelgate/proto/tasks/v1/operator_service';
import type { UnservedModels } from '../../../console/api/operator-now.ts';

/** The most models that are named of those that share a reason, and the most reasons. */
const MODELS_NAMED_MAX = 10;
const REASONS_MAX = 10;

/** A channel takes orders while it is enabled and not paused and its circuit lets at least a trial through. */
export function takesOrders({ enabled, pause, circuit }: ChannelStatus): boolean {
  return enabled && pause === undefined && circuit !== 'open';
}

/** Says why a channel is not in full use. */
export function describeStanding({ id, enabled, pause, circuit }: ChannelStatus): string {
  if (!enabled) return `${id} is disabled`;
  if (pause !== undefined) return `${id} is paused by ${pause.actor}`;
  return circuit === 'open' ? `${id} gets no work, because it failed` : `${id} is being tried again`;
}

export interface ModelGaps {
  readonly models: number;
  readonly groups: readonly UnservedModels[];
}

/**
 * Finds the models that a channel is configured for at an endpoint where no channel takes orders for them now. Models
 * that share endpoints and reason stand together.
 */
export function findUnserved(channels: readonly ChannelStatus[]): ModelGaps {
  const groups = new Map<string, { readonly endpoints: readonly string[]; readonly why: string; models: string[] }>();
  const models = new Set<string>();
  for (const [model, byEndpoint] of indexModels(channels))
    for (const { endpoints, why } of listReasons(byEndpoint)) {
      models.add(model);
      const key = JSON.stringify([endpoints, why]);
      const group = groups.get(key) ?? { endpoints, why, models: [] };
      group.models.push(model);
      groups.set(key, group);
    }
  return {
    models: models.size,
    groups: [...groups.values()].slice(0, REASONS_MAX).map(({ endpoints, why, models: all }) => ({
      models: all.slice(0, MODELS_NAMED_MAX),
      more: Math.max(0, all.length - MODELS_NAMED_MAX),
      endpoints,
      why,
    })),
  };
}

type ByEndpoint = ReadonlyMap<string, readonly ChannelStatus[]>;

/** The channels of each model, by endpoint. */
function indexModels(channels: readonly ChannelStatus[]): ReadonlyMap<string, ByEndpoint> {
  const index = new Map<string, Map<string, ChannelStatus[]>>();
  for (const channel of channels)
    for (const model of channel.models)
      for (const endpoint of channel.endpoints) {
        const byEndpoint = index.get(model) ?? new Map<string, ChannelStatus[]>();
        index.set(model, byEndpoint);
        byEndpoint.set(endpoint, [...(byEndpoint.get(endpoint) ?? []), channel]);
      }
  return index;
}

/** The endpoints of a model without a channel that takes orders, together where the reason is the same. */
function listReasons(
  byEndpoint: ByEndpoint,
): readonly { readonly endpoints: readonly string[]; readonly why: string }[] {
  const byReason = new Map<string, string[]>();
  for (const [endpoint, channels] of byEndpoint) {
    if (channels.some(takesOrders)) continue;
    const why = channels.map(describeStanding).join('; ');
    byReason.set(why, [...(byReason.get(why) ?? []), endpoint]);
  }
  return [...byReason].map(([why, endpoints]) => ({ endpoints, why }));
}

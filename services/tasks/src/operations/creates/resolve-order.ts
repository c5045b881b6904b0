import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { isVisible } from '../../domain/model.ts';
import { isUpstreamFile, listMedia } from '../../domain/order.ts';
import type { Order } from '../../domain/order.ts';
import { sourceFault } from '../../domain/source.ts';
import type { Task } from '../../domain/task.ts';
import type { OrderCaller } from './assert-order.ts';
import type { Deps } from '../deps.ts';
import { modelNotFound, toRefusal, taskNotFound } from '../task-refusals.ts';

/** An order with its source, and the channels that may accept it, in the order in which they are tried. */
export interface ResolvedOrder {
  readonly order: Order;
  readonly source: Task | undefined;
  readonly runtimes: readonly ChannelRuntime[];
}

/**
 * Resolves what an order names. Checks the model and its channels first, then who owns the source, then its fitness.
 */
export async function resolveOrder(
  deps: Pick<Deps, 'store' | 'channels' | 'models' | 'grants'>,
  caller: OrderCaller,
  order: Order,
): Promise<ResolvedOrder> {
  if (!isVisible(caller.visibleModels, order.model) || !deps.models().has(order.model))
    throw modelNotFound(order.model);
  const serving = deps.channels.listServing(order.kind, order.model);
  if (serving.length === 0) throw modelNotFound(order.model);

  const source =
    order.sourceTaskId === undefined ? undefined : await deps.store.findOwned(caller.accountId, order.sourceTaskId);
  if (order.sourceTaskId !== undefined && source === undefined) throw taskNotFound('source_task_id');
  const fault = source === undefined ? undefined : sourceFault(source);
  if (fault !== undefined) throw toRefusal(fault);

  const sameAccount = serving.filter(
    ({ channel }) => source === undefined || channel.settings.upstreamAccount === source.mapping?.upstreamAccount,
  );
  if (sameAccount.length === 0) {
    throw toRefusal({
      reason: 'source_task_unsupported',
      field: 'source_task_id',
      message: 'names a task whose generator is no longer available; send its video as content with a base_video item',
    });
  }
  return { order, source, runtimes: filterGrantedChannels(deps, caller, order, sameAccount) };
}

/** A file of an upstream account goes only to that account, and only if the operator has granted the client its use. */
function filterGrantedChannels(
  { grants }: Pick<Deps, 'grants'>,
  { accountId }: OrderCaller,
  order: Order,
  runtimes: readonly ChannelRuntime[],
): readonly ChannelRuntime[] {
  if (!listMedia(order).some(isUpstreamFile)) return runtimes;
  const allowed = grants().get(accountId) ?? [];
  const left = runtimes.filter(({ channel }) => allowed.includes(channel.settings.upstreamAccount));
  if (left.length === 0)
    throw toRefusal({
      reason: 'invalid_media',
      field: 'content',
      message: 'names an upstream file (asset:// or mm_file://) that this account may not use; send a URL or the bytes',
    });
  return left;
}

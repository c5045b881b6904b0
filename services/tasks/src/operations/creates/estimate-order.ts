import type { Quote } from '../../clients/billing.ts';
import type { PriceFacts } from '../../domain/price-facts.ts';
import type { Order } from '../../domain/order.ts';
import type { Deps } from '../deps.ts';
import { assertOrder, resolveOrder } from './admit-create.ts';
import type { OrderCaller } from './create-context.ts';

/** Computes what an order would cost now. Reference videos are not probed, so their seconds do not count. */
export async function estimateOrder(
  deps: Deps,
  caller: OrderCaller,
  order: Order,
  signal?: AbortSignal,
): Promise<{ readonly quote: Quote; readonly facts: PriceFacts }> {
  assertOrder(deps, caller, order);
  const { facts } = await resolveOrder(deps, caller, order);
  return { quote: await deps.billing.quote(caller.accountId, facts, signal), facts };
}

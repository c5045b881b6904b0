import type { Quote } from '../../clients/billing.ts';
import { priceFacts } from '../../domain/price-facts.ts';
import type { PriceFacts } from '../../domain/price-facts.ts';
import type { Order } from '../../domain/order.ts';
import { assertOrder } from './assert-order.ts';
import type { OrderCaller } from './assert-order.ts';
import type { Deps } from '../deps.ts';
import { resolveOrder } from './resolve-order.ts';

/** Computes what an order would cost now. Reference videos are not probed, so their seconds do not count. */
export async function estimateOrder(
  deps: Deps,
  caller: OrderCaller,
  order: Order,
  signal?: AbortSignal,
): Promise<{ readonly quote: Quote; readonly facts: PriceFacts }> {
  assertOrder(deps, caller, order);
  const { source } = await resolveOrder(deps, caller, order);
  const facts = priceFacts(order, source?.seconds);
  return { quote: await deps.billing.quote(caller.accountId, facts, signal), facts };
}

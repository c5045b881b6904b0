import { validateOrder } from '../../domain/rules/validate-order.ts';
import type { Order } from '../../domain/order.ts';
import type { Deps } from '../deps.ts';
import { toRefusal } from '../task-refusals.ts';

/** The account that places an order, and the models that it may use. */
export interface OrderCaller {
  readonly accountId: string;
  readonly visibleModels: readonly string[];
}

/** Refuses an order that is invalid by itself. Reads and writes nothing. */
export function assertOrder({ models }: Pick<Deps, 'models'>, { visibleModels }: OrderCaller, order: Order): void {
  const fault = validateOrder(order, models(), visibleModels);
  if (fault !== undefined) throw toRefusal(fault);
}

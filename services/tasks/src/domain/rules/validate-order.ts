import { firstFault } from '../fault.ts';
import type { Fault, Rule } from '../fault.ts';
import { isVisible } from '../model.ts';
import type { Model } from '../model.ts';
import type { Kind, Order } from '../order.ts';
import { contextIrRules } from './context-ir.ts';
import { generationRules } from './generation.ts';
import { regenerationRules } from './regeneration.ts';

const RULES: Readonly<Record<Kind, (model: Model | undefined) => readonly Rule<Order>[]>> = {
  generation: generationRules,
  regeneration: () => regenerationRules,
  context_ir: contextIrRules,
};

/**
 * The first fault of an order that can be found without a look-up. A model that is invisible to the caller counts as
 * unknown, so a refusal does not reveal it.
 */
export function validateOrder(
  order: Order,
  models: ReadonlyMap<string, Model>,
  visibleModels: readonly string[],
): Fault | undefined {
  if (order.model === '') return { reason: 'missing_model', field: 'model', message: 'is required' };
  const model = isVisible(visibleModels, order.model) ? models.get(order.model) : undefined;
  return firstFault(order, RULES[order.kind](model));
}

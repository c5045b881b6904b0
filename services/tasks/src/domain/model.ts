import type { Kind } from './order.ts';

/** The abilities of a model, according to the configuration. */
export interface Model {
  readonly id: string;
  /** In whole seconds, inclusive. */
  readonly durationMin: number;
  readonly durationMax: number;
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
}

/** The model with a name that the contract fixes. */
export const ALPHA = 'Alpha-H3';

/** The kinds of task that the contract has for that model alone. */
const ALPHA_KINDS: readonly Kind[] = ['regeneration', 'context_ir'];

/** Reports whether the contract allows this kind of task with this model. */
export function allowsKind(model: string, kind: Kind): boolean {
  return model === ALPHA || !ALPHA_KINDS.includes(kind);
}

/** Reports whether a list of visible models includes this model; `*` includes every model. */
export function isVisible(visibleModels: readonly string[], model: string): boolean {
  return visibleModels.includes('*') || visibleModels.includes(model);
}

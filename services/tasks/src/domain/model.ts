/** The abilities of a model, according to the configuration. */
export interface Model {
  readonly id: string;
  /** In whole seconds, inclusive. */
  readonly durationMin: number;
  readonly durationMax: number;
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
}

/** The model whose name the contract fixes. */
export const ALPHA = 'Alpha-H3';

/** Reports whether a list of visible models includes this model; `*` includes every model. */
export function isVisible(visibleModels: readonly string[], model: string): boolean {
  return visibleModels.includes('*') || visibleModels.includes(model);
}

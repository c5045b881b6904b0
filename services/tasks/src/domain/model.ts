/** What a model can do, by the configuration. */
export interface Model {
  readonly id: string;
  /** Whole seconds, both ends included. */
  readonly durationMin: number;
  readonly durationMax: number;
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
}

/** The one model whose wire value the contract fixes. */
export const ALPHA = 'Alpha-H3';

/** Whether a list of visible models holds this one; `*` holds every one. */
export function isVisible(visibleModels: readonly string[], model: string): boolean {
  return visibleModels.includes('*') || visibleModels.includes(model);
}

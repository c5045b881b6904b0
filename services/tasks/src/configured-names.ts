import type { Model } from './domain/model.ts';

/** The models and channels of the current configuration. A label names no others. */
export interface ConfiguredNames {
  readonly models: () => ReadonlyMap<string, Model>;
  readonly channels: () => readonly string[];
}

/** The label of a model, which may have left the configuration since its task was created. */
export function toModelLabel(model: string, { models }: Pick<ConfiguredNames, 'models'>): string {
  return models().has(model) ? model : 'removed';
}

import type { Models } from './model-defaults.ts';

/** The video models and the models on offer, as the configuration of the last reload lists them. */
export interface Catalogue {
  readonly models: Models;
  /** The ids of the models that an enabled channel has, in the order of the file. */
  readonly offered: readonly string[];
}

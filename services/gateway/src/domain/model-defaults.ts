/** The values that a public model supports according to the configuration. */
export interface Model {
  readonly duration: { readonly min: number; readonly max: number };
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly defaults: { readonly duration: number; readonly resolution: string; readonly ratio: string };
}

export type Models = ReadonlyMap<string, Model>;

export const ADAPTIVE = 'adaptive';
const PREFERRED = { duration: 5, resolution: '768P', ratio: '16:9' };

/** The defaults for an unknown model. The tasks service decides whether a model exists. */
const ANY_MODEL: Model = {
  duration: { min: 4, max: 15 },
  resolutions: ['768P', '2K'],
  ratios: [ADAPTIVE, '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'],
  defaults: PREFERRED,
};

export function findModel(models: Models, id: string): Model {
  return models.get(id) ?? ANY_MODEL;
}

/** Chooses the defaults: the configured value, else the preferred one if the model supports it, else its first. */
export function chooseDefaults(
  model: Omit<Model, 'defaults'>,
  given: Partial<Model['defaults']> = {},
): Model['defaults'] {
  const { min, max } = model.duration;
  return {
    duration: given.duration ?? Math.min(max, Math.max(min, PREFERRED.duration)),
    resolution: given.resolution ?? choosePreferred(model.resolutions, PREFERRED.resolution),
    ratio:
      given.ratio ??
      choosePreferred(
        model.ratios.filter((ratio) => ratio !== ADAPTIVE),
        PREFERRED.ratio,
      ),
  };
}

function choosePreferred(options: readonly string[], wanted: string): string {
  return options.includes(wanted) ? wanted : (options[0] ?? wanted);
}

/** The video models and the models on offer, as the configuration of the last reload lists them. */
export interface Catalogue {
  readonly models: Models;
  /** The ids of the models that an enabled channel has, in the order of the file. */
  readonly offered: readonly string[];
}

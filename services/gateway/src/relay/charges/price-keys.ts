/** The most models of one endpoint whose keys are cached; fewer models are served. */
const MODELS_MAX = 1000;

/** Lists the keys under which the price of a call can be configured, most specific first. */
export function listPriceKeys(endpoint: string, model: string): readonly string[] {
  return [`${model}__${endpoint.replaceAll('.', '_')}`, model];
}

export type PriceKeys = typeof listPriceKeys;

/** Lists the same keys from a cache, because every call needs them. */
export function cachePriceKeys(): PriceKeys {
  const known = new Map<string, Map<string, readonly string[]>>();
  return (endpoint, model) => {
    let byModel = known.get(endpoint);
    if (byModel === undefined || byModel.size >= MODELS_MAX)
      known.set(endpoint, (byModel = new Map<string, readonly string[]>()));
    let keys = byModel.get(model);
    if (keys === undefined) byModel.set(model, (keys = listPriceKeys(endpoint, model)));
    return keys;
  };
}

/** Of each endpoint; the models that are served are far fewer. */
const MODELS_MAX = 1000;
/** By the endpoint's name, then by the model. */
const known = new Map<string, Map<string, readonly string[]>>();

/** The keys that a call's price may stand under, the most particular first. RequestHead for each call, so the texts are the same ones each time. */
export function priceKeysOf(endpoint: string, model: string): readonly string[] {
  let byModel = known.get(endpoint);
  if (byModel === undefined || byModel.size >= MODELS_MAX)
    known.set(endpoint, (byModel = new Map<string, readonly string[]>()));
  let keys = byModel.get(model);
  if (keys === undefined) byModel.set(model, (keys = [`${model}__${endpoint.replaceAll('.', '_')}`, model]));
  return keys;
}

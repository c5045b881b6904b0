import type { Principal } from '../clients/billing-client.ts';
import type { Catalogue } from '../config.ts';

const EVERY = '*';

/** Lists the models that a token may use: those on its list that an enabled channel has. */
export function listVisibleModels({ models }: Principal, { offered }: Catalogue): readonly string[] {
  return models.includes(EVERY) ? offered : offered.filter((model) => models.includes(model));
}

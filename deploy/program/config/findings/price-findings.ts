import { relayPriceKeys } from '@reelgate/gateway/config';
import { ALPHA } from '@reelgate/tasks/config';
import { refuseIf, warn, warnIf } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

/** The operations that the contract ties to one model, each with the end of its price keys. */
export const ALPHA_ONLY: Readonly<Record<string, string>> = {
  'video.regeneration': '__regeneration',
  'video.context_ir': '__context_ir',
};

export function checkAlphaPrices({ prices }: ComparedConfig): readonly Finding[] {
  return Object.keys(prices).flatMap((key) => {
    const end = Object.values(ALPHA_ONLY).find((ending) => key.endsWith(ending));
    return refuseIf(
      end !== undefined && key !== ALPHA + end,
      ['prices', key],
      `only ${ALPHA}${end ?? ''} can be priced: no other model has this operation; remove the price`,
    );
  });
}

export function findUnpricedModels({ channels, prices }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ endpoints, models, enabled }, at) =>
    (enabled ? Object.keys(models) : []).flatMap((model) => {
      const unpriced = endpoints.filter((endpoint) => {
        const keys = listPriceKeys(model, endpoint);
        return keys.length > 0 && !keys.some((key) => Object.hasOwn(prices, key));
      });
      if (unpriced.length === 0) return [];
      const wanted = [...new Set(unpriced.map((endpoint) => listPriceKeys(model, endpoint).at(-1) ?? model))];
      return [
        warn(
          ['channels', at, 'models', model],
          `has no price at ${unpriced.join(', ')}: every call is refused with model_price_error; ` +
            `expected ${wanted.map((key) => `prices.${key}`).join(', ')}`,
        ),
      ];
    }),
  );
}

export function findUnusedPrices({ channels, prices }: ComparedConfig): readonly Finding[] {
  const used = new Set(
    channels.flatMap(({ endpoints, models }) =>
      Object.keys(models).flatMap((model) => endpoints.flatMap((endpoint) => listPriceKeys(model, endpoint))),
    ),
  );
  return Object.keys(prices).flatMap((key) =>
    warnIf(!used.has(key), ['prices', key], 'no channel has this model at this endpoint; nothing is charged by it'),
  );
}

/** The keys that a price of a model at an endpoint may have, the most specific first. */
function listPriceKeys(model: string, endpoint: string): readonly string[] {
  if (endpoint === 'video.generation') return [model];
  const end = ALPHA_ONLY[endpoint];
  if (end !== undefined) return model === ALPHA ? [model + end] : [];
  return relayPriceKeys(endpoint, model);
}

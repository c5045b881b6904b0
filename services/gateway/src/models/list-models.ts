import type { Problem } from '@reelgate/platform/problem';
import type { PriceSheet, UnitPrice } from '@reelgate/proto/billing/v1/price';
import type { Model as OrderableModel, ModelOperation } from '@reelgate/proto/tasks/v1/task_service';
import type { AccountCaller } from '../clients/caller.ts';
import { nameUnit } from '../clients/models-client.ts';
import type { ModelReaders, PriceUnit } from '../clients/models-client.ts';
import { KIND_WORDS } from '../clients/task-words.ts';
import type { PlainKind } from '../clients/task-words.ts';
import type { Catalogue, Model } from '../domain/model-defaults.ts';
import { chooseDefaults } from '../domain/model-defaults.ts';
import { refuse } from '../refusals.ts';

/** The token to list models for, and the request that asks for the list. */
export interface TokenCaller extends AccountCaller {
  readonly tokenId: string;
}

/** A video model as a token may order from it. */
export interface VideoModel {
  readonly id: string;
  readonly operations: readonly PlainKind[];
  /** The limits of a generation; undefined if the model has no generations. */
  readonly generation: GenerationLimits | undefined;
  /** The amount of an order is the sum of these prices over its quantities. */
  readonly prices: readonly ModelPrice[];
  readonly currency: string;
}

/** Every generation within these limits is valid. */
export interface GenerationLimits extends Model {
  /** Further ratios, only for an order with media. */
  readonly mediaRatios: readonly string[];
  readonly operation: ModelOperation;
}

export interface ModelPrice {
  readonly operation: PlainKind;
  readonly unit: PriceUnit;
  readonly price: UnitPrice;
}

export interface VideoModels {
  /** Lists the models that the token may order from, by id, with the prices of its account. */
  list(caller: TokenCaller): Promise<readonly VideoModel[]>;
  /** Finds one of them. Refuses any other id with a Problem, whether it exists or not. */
  find(id: string, caller: TokenCaller): Promise<VideoModel>;
}

export interface VideoModelsDeps extends ModelReaders {
  readonly catalogue: () => Catalogue;
}

/**
 * The catalogue of video models. The tasks service and billing are asked each time, so a limit is never older than
 * their configuration, and a price is at most a second old. What has no price cannot be ordered, so it is left out.
 */
export function openVideoModels({ listOrderable, readPrices, catalogue }: VideoModelsDeps): VideoModels {
  const list = async ({ tokenId, ...caller }: TokenCaller): Promise<readonly VideoModel[]> => {
    const { models, priceClass } = await listOrderable(tokenId, caller);
    const asked = models.flatMap(({ operations }) => operations);
    const { currency, sheets } = await readPrices({ operations: asked, priceClass }, caller);
    const known = catalogue().models;
    let at = 0;
    return models.flatMap((model) => {
      const priced = sheets.slice(at, (at += model.operations.length));
      return toVideoModel(model, { priced, currency, configured: known.get(model.id) }) ?? [];
    });
  };
  return {
    list,
    find: async (id, caller) => {
      const found = (await list(caller)).find((model) => model.id === id);
      if (found === undefined) throw unknownModel(id);
      return found;
    },
  };
}

interface ModelTerms {
  /** The prices of its operations, in the same order. */
  readonly priced: readonly PriceSheet[];
  readonly currency: string;
  /** The model in the configuration of the gateway, which has the defaults. */
  readonly configured: Model | undefined;
}

interface SoldOperation {
  readonly kind: PlainKind;
  readonly operation: ModelOperation;
  readonly sheet: PriceSheet;
}

/** A kind that a newer tasks service has is left out. */
function toVideoModel(model: OrderableModel, { priced, currency, configured }: ModelTerms): VideoModel | undefined {
  const sold = model.operations.flatMap((operation, at): SoldOperation[] => {
    const [kind, sheet] = [KIND_WORDS[operation.kind], priced[at]];
    return kind !== undefined && sheet?.priced === true ? [{ kind, operation, sheet }] : [];
  });
  if (sold.length === 0) return undefined;
  const generation = sold.find(({ kind }) => kind === 'generation');
  return {
    id: model.id,
    operations: sold.map(({ kind }) => kind),
    generation: generation && toGenerationLimits(model, generation, configured),
    prices: sold.flatMap(listPrices),
    currency,
  };
}

function toGenerationLimits(
  { durationMin: min, durationMax: max, ratios, mediaRatios }: OrderableModel,
  { operation, sheet: { resolutions } }: SoldOperation,
  configured: Model | undefined,
): GenerationLimits {
  const duration = { min, max };
  return {
    duration,
    resolutions,
    ratios: ratios.filter((ratio) => !mediaRatios.includes(ratio)),
    mediaRatios,
    defaults: configured?.defaults ?? chooseDefaults({ duration, resolutions, ratios }),
    operation,
  };
}

/** A quantity that the operation does not count is free. */
function listPrices({ kind, operation, sheet }: SoldOperation): readonly ModelPrice[] {
  return sheet.prices
    .map((price) => ({ operation: kind, unit: nameUnit(price), price }))
    .filter(
      ({ unit }) =>
        (unit !== 'input_second' || operation.countsInputSeconds) && (unit !== 'input_image' || operation.countsImages),
    );
}

function unknownModel(id: string): Problem {
  return refuse('model_not_found', {
    field: 'model',
    message:
      `${JSON.stringify(id.slice(0, 64))} does not exist or is not available to this token; ` +
      'GET /v1/videos/models lists the available models',
  });
}

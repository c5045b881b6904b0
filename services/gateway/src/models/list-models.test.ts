import { describe, expect, test } from '@jest/globals';
import type { ModelOperation, OrderableModel } from '../clients/models-client.ts';
import type { PriceSheet } from '../clients/unit-prices-client.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { openVideoModels } from './list-models.ts';

const CALLER = { accountId: 'demo', tokenId: 'token_1', requestId: 'request_1' };
const CATALOGUE: Catalogue = { models: new Map(), offered: [] };
const UNPRICED: PriceSheet = { isPriced: false, resolutions: [], prices: [] };
const priced = (...units: ('output_second' | 'input_second' | 'input_image')[]): PriceSheet => ({
  isPriced: true,
  resolutions: ['720p'],
  prices: units.map((unit) => ({ unit, resolution: undefined, free: 0, amountNanos: 1n })),
});

const operation = (kind: ModelOperation['kind'], counts = { inputSeconds: true, images: true }): ModelOperation => ({
  kind,
  priceKey: `${kind} price`,
  resolutions: ['720p', '4K'],
  textMax: 100,
  media: { max: 2, roles: { first_frame: 1 }, framesExcludeReferences: true, audioNeedsPicture: true },
  counts,
});
const model = (id: string, ...operations: ModelOperation[]): OrderableModel => ({
  id,
  durationMin: 2,
  durationMax: 3,
  ratios: ['adaptive', '9:16'],
  mediaRatios: ['adaptive'],
  operations,
});

const open = (models: readonly OrderableModel[], sheets: readonly PriceSheet[]) =>
  openVideoModels({
    listOrderable: async () => ({ models, priceClass: undefined }),
    readPrices: async () => ({ currency: 'EUR', sheets }),
    catalogue: () => CATALOGUE,
  });

describe('a model', () => {
  test('has the resolutions with a price, the ratios of any order, and defaults that it supports', async () => {
    const models = open([model('one', operation('generation'))], [priced('output_second')]);

    expect(await models.find('one', CALLER)).toMatchObject({
      generation: {
        duration: { min: 2, max: 3 },
        resolutions: ['720p'],
        ratios: ['9:16'],
        mediaRatios: ['adaptive'],
        defaults: { duration: 3, resolution: '720p', ratio: '9:16' },
        promptMax: 100,
      },
      currency: 'EUR',
    });
  });
  test('has the operations with a price, each with the units that it counts', async () => {
    const none = { inputSeconds: false, images: false };
    const models = open(
      [model('one', operation('generation'), operation('context_ir', none)), model('two', operation('regeneration'))],
      [UNPRICED, priced('output_second', 'input_second', 'input_image'), priced('input_image')],
    );

    const [one, two] = await models.list(CALLER);

    expect(one).toMatchObject({ operations: ['context_ir'], generation: undefined });
    expect(one?.prices.map(({ operation: of, unit }) => [of, unit])).toEqual([['context_ir', 'output_second']]);
    expect(two?.prices.map(({ operation: of, unit }) => [of, unit])).toEqual([['regeneration', 'input_image']]);
  });
  test('without any price is as unknown as one that does not exist', async () => {
    const models = open([model('one', operation('generation'))], [UNPRICED]);
    const refusal = { kind: 'not_found', reason: 'model_not_found', field: 'model' };

    expect(await models.list(CALLER)).toEqual([]);
    await expect(models.find('one', CALLER)).rejects.toMatchObject(refusal);
    await expect(models.find('none', CALLER)).rejects.toMatchObject(refusal);
  });
});

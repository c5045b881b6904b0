import { describe, expect, test } from '@jest/globals';
import { create } from '@bufbuild/protobuf';
import { PriceSheetSchema, PriceUnit } from '@reelgate/proto/billing/v1/price';
import type { PriceSheet } from '@reelgate/proto/billing/v1/price';
import { MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { ListModelsResponseSchema, ModelOperationSchema, ModelSchema } from '@reelgate/proto/tasks/v1/task_service';
import type { Model, ModelOperation } from '@reelgate/proto/tasks/v1/task_service';
import type { Catalogue } from '../domain/model-defaults.ts';
import { openVideoModels } from './list-models.ts';

const CALLER = { accountId: 'demo', tokenId: 'token_1', requestId: 'request_1' };
const CATALOGUE: Catalogue = { models: new Map(), offered: [] };
const UNPRICED = create(PriceSheetSchema);
const priced = (...units: PriceUnit[]): PriceSheet =>
  create(PriceSheetSchema, {
    priced: true,
    resolutions: ['720p'],
    prices: units.map((unit) => ({ unit, amountNanos: 1n })),
  });

const operation = (kind: TaskKind, counts = { countsInputSeconds: true, countsImages: true }): ModelOperation =>
  create(ModelOperationSchema, {
    kind,
    priceKey: `${kind} price`,
    resolutions: ['720p', '4K'],
    textMax: 100,
    mediaMax: 2,
    roles: [{ role: MediaRole.FIRST_FRAME, max: 1 }],
    framesExcludeReferences: true,
    audioNeedsPicture: true,
    ...counts,
  });
const model = (id: string, ...operations: ModelOperation[]): Model =>
  create(ModelSchema, {
    id,
    durationMin: 2,
    durationMax: 3,
    ratios: ['adaptive', '9:16'],
    mediaRatios: ['adaptive'],
    operations,
  });

const open = (models: Model[], sheets: readonly PriceSheet[]) =>
  openVideoModels({
    listOrderable: async () => create(ListModelsResponseSchema, { models }),
    readPrices: async () => ({ currency: 'EUR', sheets }),
    catalogue: () => CATALOGUE,
  });

describe('a model', () => {
  test('has the resolutions with a price, the ratios of any order, and defaults that it supports', async () => {
    const models = open([model('one', operation(TaskKind.GENERATION))], [priced(PriceUnit.OUTPUT_SECOND)]);

    expect(await models.find('one', CALLER)).toMatchObject({
      generation: {
        duration: { min: 2, max: 3 },
        resolutions: ['720p'],
        ratios: ['9:16'],
        mediaRatios: ['adaptive'],
        defaults: { duration: 3, resolution: '720p', ratio: '9:16' },
        operation: { textMax: 100 },
      },
      currency: 'EUR',
    });
  });
  test('has the operations with a price, each with the units that it counts', async () => {
    const none = { countsInputSeconds: false, countsImages: false };
    const models = open(
      [
        model('one', operation(TaskKind.GENERATION), operation(TaskKind.CONTEXT_IR, none)),
        model('two', operation(TaskKind.REGENERATION)),
      ],
      [
        UNPRICED,
        priced(PriceUnit.OUTPUT_SECOND, PriceUnit.INPUT_SECOND, PriceUnit.INPUT_IMAGE),
        priced(PriceUnit.INPUT_IMAGE),
      ],
    );

    const [one, two] = await models.list(CALLER);

    expect(one).toMatchObject({ operations: ['context_ir'], generation: undefined });
    expect(one?.prices.map(({ operation: of, unit }) => [of, unit])).toEqual([['context_ir', 'output_second']]);
    expect(two?.prices.map(({ operation: of, unit }) => [of, unit])).toEqual([['regeneration', 'input_image']]);
  });
  test('without any price is as unknown as one that does not exist', async () => {
    const models = open([model('one', operation(TaskKind.GENERATION))], [UNPRICED]);
    const refusal = { kind: 'not_found', reason: 'model_not_found', field: 'model' };

    expect(await models.list(CALLER)).toEqual([]);
    await expect(models.find('one', CALLER)).rejects.toMatchObject(refusal);
    await expect(models.find('none', CALLER)).rejects.toMatchObject(refusal);
  });
});

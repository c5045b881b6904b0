import { deriveValues, deriveWords, listWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { ListUnitPricesResponse } from '@reelgate/proto/billing/v1/billing_service';
import { PriceUnit as WireUnit } from '@reelgate/proto/billing/v1/price';
import type { PriceSheet, UnitPrice } from '@reelgate/proto/billing/v1/price';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import type { QueueClass } from '@reelgate/proto/tasks/v1/queue';
import type { ListModelsResponse, ModelOperation } from '@reelgate/proto/tasks/v1/task_service';
import type { BillingClient } from './billing-client.ts';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import { WAIT_CLASS_WORDS } from './task-words.ts';
import type { TasksClient } from './tasks-client.ts';
import { requireValue } from './wire-values.ts';

const DEADLINE_MS = 5000;
/** The maximum number of queries in one call. */
const QUERIES_MAX = 1000;

export type PriceUnit = EnumWord<typeof WireUnit>;
export const PRICE_UNITS = listWords(WireUnit);
const UNIT_WORDS = deriveWords(WireUnit);
const CLASSES = deriveValues(TokenClass);

export interface PriceQuestion {
  readonly operations: readonly ModelOperation[];
  /** The class in which the work would wait. */
  readonly priceClass: QueueClass;
}

export interface PriceSheets {
  readonly currency: string;
  /** A sheet for each operation, in the same order. */
  readonly sheets: readonly PriceSheet[];
}

/** The models that a token may order from, with the limits of their orders, and the prices of single units. */
export interface ModelReaders {
  /** Lists the models by id, and the price class of the token's orders, unless they prefer another. */
  readonly listOrderable: (tokenId: string, caller: AccountCaller) => Promise<ListModelsResponse>;
  /** Reads the prices in the currency of the account. */
  readonly readPrices: (question: PriceQuestion, caller: AccountCaller) => Promise<PriceSheets>;
}

export function modelReaders(tasks: TasksClient, billing: BillingClient): ModelReaders {
  return {
    listOrderable: (tokenId, { accountId, ...call }) =>
      tasks.listModels({ accountId, tokenId }, withDeadline(call, DEADLINE_MS)),
    readPrices: async ({ operations, priceClass }, { accountId, ...call }) => {
      const word = WAIT_CLASS_WORDS[priceClass];
      const ofClass = word === undefined ? TokenClass.UNSPECIFIED : CLASSES[word];
      const answers: ListUnitPricesResponse[] = [];
      for (let from = 0; from < operations.length; from += QUERIES_MAX) {
        const queries = operations
          .slice(from, from + QUERIES_MAX)
          .map(({ priceKey, resolutions }) => ({ priceKey, resolutions }));
        const request = { accountId, queries, class: ofClass };
        answers.push(await billing.listUnitPrices(request, withDeadline(call, DEADLINE_MS)));
      }
      return { currency: answers.at(-1)?.currency ?? '', sheets: answers.flatMap(({ sheets }) => sheets) };
    },
  };
}

/** Names the unit of a price. Refuses an unknown unit, because the sum would be wrong without it. */
export function nameUnit({ unit }: UnitPrice): PriceUnit {
  return requireValue(UNIT_WORDS[unit]);
}

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TokenPartsSchema } from '@reelgate/proto/billing/v1/price';
import { ChargedItemSchema, ListChargedItemsResponseSchema } from '@reelgate/proto/billing/v1/usage_service';
import type { ListChargedItemsResponse } from '@reelgate/proto/billing/v1/usage_service';
import { toModel } from '../../domain/usage.ts';
import { badField } from '../../billing-refusals.ts';
import type { ItemPlace } from '../../store/usage/charged-items.ts';
import { findAccount } from '../accounts/read-accounts.ts';
import type { BillingDeps } from '../deps.ts';
import { assertPeriod } from './assert-period.ts';
import { toUsage } from './get-usage.ts';

const ITEMS_MAX = 1000;
const TOKENS_MAX = 10_000;

export interface ItemPageQuery {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Zero: as many as a page can have. */
  readonly limit: number;
  /** The end of the page before. Empty for the first page. */
  readonly after: string;
}

const BASES = deriveValues(Basis);

/**
 * A page of the settled tasks, jobs and calls of an account by their time of settlement. Settlements that come while a
 * caller reads page after page are later than all that it has read, as far as the clocks of the processes agree.
 */
export async function listChargedItems(deps: BillingDeps, query: ItemPageQuery): Promise<ListChargedItemsResponse> {
  assertPeriod(query);
  const { currency } = await findAccount(deps, query.accountId, 'account_id');
  const limit = query.limit === 0 ? ITEMS_MAX : query.limit;
  const after = query.after === '' ? { at: query.from, id: '' } : parsePlace(query.after, query.from);
  const found = await deps.usage.items({ accountId: query.accountId, after, to: query.to, limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const names = new Map((await deps.tokens.list(query.accountId, TOKENS_MAX)).map(({ id, name }) => [id, name]));
  const models = deps.models();
  return toMessage(ListChargedItemsResponseSchema, {
    items: items.map(({ id, at, tokenId, label, basis, priceKey, sum, parts, searches }) =>
      toMessage(ChargedItemSchema, {
        ...{ id, tokenId, label, searches },
        settledAt: timestampFromMs(at),
        tokenName: names.get(tokenId) ?? '',
        basis: BASES[basis],
        usage: toUsage(sum, { key: toModel(priceKey, models) }),
        parts: create(TokenPartsSchema, parts),
      }),
    ),
    currency,
    continueAfter: found.length > limit && last !== undefined ? `${last.at}:${last.id}` : '',
  });
}

/** Reads a place such as `1767225600000:task_1`. One before the period begins with the period. */
function parsePlace(text: string, from: number): ItemPlace {
  const [, at = '', id = ''] = /^(\d{1,15}):(.+)$/s.exec(text) ?? [];
  if (id === '') throw badField('after', 'must be the continue_after of the page before');
  return Number(at) < from ? { at: from, id: '' } : { at: Number(at), id };
}

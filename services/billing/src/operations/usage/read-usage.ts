import { create } from '@bufbuild/protobuf';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { TokenPartsSchema } from '@reelgate/proto/billing/v1/price';
import {
  GetUsageResponseSchema,
  UsageSchema,
  ChargedItemSchema,
  ListChargedItemsResponseSchema,
} from '@reelgate/proto/billing/v1/usage_service';
import type {
  GetUsageResponse,
  Usage,
  ListChargedItemsRequest,
  ListChargedItemsResponse,
} from '@reelgate/proto/billing/v1/usage_service';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { HOUR_MS, NOTHING_USED, addQuantities, floorToHour, toModel, DAY_MS } from '../../domain/usage.ts';
import type { Quantities, UsageGroup } from '../../domain/usage.ts';
import { badField } from '../../billing-refusals.ts';
import type { UsageQuery, UsageSum, ItemPlace, Period } from '../../store/usage/usage-store.ts';
import type { BillingDeps } from '../deps.ts';
import { findAccount } from '../accounts/accounts.ts';

const GROUPS_MAX = 1000;
/** A day of a year can have one of each model. */
const SPLITS_MAX = 10_000;
const TOKENS_MAX = 10_000;
const ITEMS_MAX = 1000;
const DAYS_MAX = 366;
/** The end of the year 9999. */
const TIME_MAX = 253_402_300_800_000;
/** The most that clocks differ. A time range that ends later is rounded up, since no settlement lies in the future. */
const AHEAD_MS = 5 * 60_000;

/** The names of a group and of its split. */
interface UsageKeys {
  /** The model, the day as YYYY-MM-DD, the token's id, or the label, which is empty for work without a label. */
  readonly key: string;
  readonly name: string;
  /** The same of the split; empty too if the group is not split. */
  readonly splitKey: string;
  readonly splitName: string;
}

interface UsageLine extends UsageKeys {
  readonly sum: Quantities;
}

/** The keys of a total, and of a single charge. */
const UNGROUPED: UsageKeys = { key: '', name: '', splitKey: '', splitName: '' };

/** The charges of an account in a range of time, tasks and calls together, by their time of settlement in UTC. */
export async function getUsage(deps: BillingDeps, query: UsageQuery, period: Period): Promise<GetUsageResponse> {
  assertSplit(query);
  assertPeriod(period);
  const { currency } = await findAccount(deps, query.accountId, 'account_id');
  const { from } = period;
  const to = period.to > deps.clock.now() + AHEAD_MS ? floorToHour(period.to + HOUR_MS - 1) : period.to;
  const sums = await deps.usage.sums(query, { from, to });
  if (sums === undefined)
    throw badField('from', 'must be a whole hour, and so must to: too many settlements lie in the partial hours');
  const lines = await buildUsageLines(deps, query, sums);
  const linesMax = query.splitBy === undefined ? GROUPS_MAX : SPLITS_MAX;
  return toMessage(GetUsageResponseSchema, {
    groups: lines.slice(0, linesMax).map(({ sum, ...keys }) => toUsage(sum, keys)),
    total: toUsage(sums.map(({ sum }) => sum).reduce(addQuantities, NOTHING_USED)),
    currency,
    truncated: lines.length > linesMax,
  });
}

function toUsage(
  { charged, parts: { searches = 0n, ...parts } = {}, ...sum }: Quantities,
  keys: Partial<UsageKeys> = {},
): Usage {
  return toMessage(UsageSchema, {
    ...{ ...UNGROUPED, ...keys, ...sum, searches },
    amountNanos: charged,
    parts: create(TokenPartsSchema, parts),
  });
}

function assertSplit({ groupBy, splitBy }: UsageQuery): void {
  if (splitBy !== undefined && (groupBy !== 'day' || splitBy === 'day'))
    throw badField('split_by', 'must be model, token or label, and group_by must be day');
}

async function buildUsageLines(
  deps: BillingDeps,
  { accountId, groupBy, splitBy }: UsageQuery,
  sums: readonly UsageSum[],
): Promise<UsageLine[]> {
  const names =
    groupBy === 'token' || splitBy === 'token'
      ? new Map((await deps.tokens.list(accountId, TOKENS_MAX)).map(({ id, name }) => [id, name]))
      : new Map<string, string>();
  const models = deps.models();
  const lines = new Map<string, UsageLine>();
  for (const { group, split, sum } of sums) {
    const key = KEYS[groupBy](group, models);
    const splitKey = splitBy === undefined ? '' : KEYS[splitBy](split, models);
    const known = lines.get(`${key} ${splitKey}`);
    lines.set(`${key} ${splitKey}`, {
      key,
      name: groupBy === 'token' ? (names.get(key) ?? '') : '',
      splitKey,
      splitName: splitBy === 'token' ? (names.get(splitKey) ?? '') : '',
      sum: addQuantities(known?.sum ?? NOTHING_USED, sum),
    });
  }
  return [...lines.values()].sort(
    (left, right) => compareKeys(left.key, right.key) || compareKeys(left.splitKey, right.splitKey),
  );
}

function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

const KEYS: Readonly<Record<UsageGroup, (group: string, models: ReadonlySet<string>) => string>> = {
  model: toModel,
  token: (id) => id,
  label: (label) => label,
  day: (ms) => new Date(Number(ms)).toISOString().slice(0, 'yyyy-mm-dd'.length),
};

const BASES = deriveValues(Basis);

/**
 * A page of the settled tasks, jobs and calls of an account by their time of settlement. Settlements that come while a
 * caller reads page after page are later than all that it has read, as far as the clocks of the processes agree.
 */
export async function listChargedItems(
  deps: BillingDeps,
  request: ListChargedItemsRequest,
  period: Period,
): Promise<ListChargedItemsResponse> {
  assertPeriod(period);
  const { accountId, limit: most } = request;
  const { currency } = await findAccount(deps, accountId, 'account_id');
  const { from, to } = period;
  const limit = most === 0 ? ITEMS_MAX : most;
  const after = request.after === '' ? { at: from, id: '' } : parsePlace(request.after, from);
  const found = await deps.usage.items({ accountId, after, to, limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const names = new Map((await deps.tokens.list(accountId, TOKENS_MAX)).map(({ id, name }) => [id, name]));
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

/** Reads a place such as `1767225600000:task_1`. A place before the period counts as the beginning of the period. */
function parsePlace(text: string, from: number): ItemPlace {
  const [, at = '', id = ''] = /^(\d{1,15}):(.+)$/s.exec(text) ?? [];
  if (id === '') throw badField('after', 'must be the continue_after of the page before');
  return Number(at) < from ? { at: from, id: '' } : { at: Number(at), id };
}

/** Refuses a period that is empty, longer than a leap year, or outside the years 1970 to 9999. */
function assertPeriod({ from, to }: Period): void {
  if (from < 0 || to > TIME_MAX) throw badField('from', 'and to must be times from 1970 to 9999');
  if (from >= to) throw badField('to', 'must be later than from');
  if (to - from > DAYS_MAX * DAY_MS) throw badField('to', `must be at most ${DAYS_MAX} days after from`);
}

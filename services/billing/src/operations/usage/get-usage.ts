import { create } from '@bufbuild/protobuf';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { TokenPartsSchema } from '@reelgate/proto/billing/v1/price';
import { GetUsageResponseSchema, UsageSchema } from '@reelgate/proto/billing/v1/usage_service';
import type { GetUsageResponse, Usage } from '@reelgate/proto/billing/v1/usage_service';
import { HOUR_MS, NOTHING_USED, addQuantities, floorToHour, toModel } from '../../domain/usage.ts';
import type { Quantities, UsageGroup } from '../../domain/usage.ts';
import { badField } from '../../billing-refusals.ts';
import type { UsageQuery, UsageSum } from '../../store/usage/usage-store.ts';
import type { BillingDeps } from '../deps.ts';
import { findAccount } from '../accounts/read-accounts.ts';
import { assertPeriod } from './assert-period.ts';

const GROUPS_MAX = 1000;
/** A day of a year can have one of each model. */
const SPLITS_MAX = 10_000;
const TOKENS_MAX = 10_000;
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
export async function getUsage(deps: BillingDeps, query: UsageQuery): Promise<GetUsageResponse> {
  assertBounds(query);
  const { currency } = await findAccount(deps, query.accountId, 'account_id');
  const to = query.to > deps.clock.now() + AHEAD_MS ? floorToHour(query.to + HOUR_MS - 1) : query.to;
  const sums = await deps.usage.sums({ ...query, to });
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

export function toUsage(
  { charged, parts: { searches = 0n, ...parts } = {}, ...sum }: Quantities,
  keys: Partial<UsageKeys> = {},
): Usage {
  return toMessage(UsageSchema, {
    ...{ ...UNGROUPED, ...keys, ...sum, searches },
    amountNanos: charged,
    parts: create(TokenPartsSchema, parts),
  });
}

function assertBounds({ from, to, groupBy, splitBy }: UsageQuery): void {
  if (splitBy !== undefined && (groupBy !== 'day' || splitBy === 'day'))
    throw badField('split_by', 'must be model, token or label, and group_by must be day');
  assertPeriod({ from, to });
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

import type { RpcAnswer, RpcRequest } from '../../../api/calls.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { formatDecimal } from '../../../parts/number-text.tsx';
import { toBounds } from '../../../parts/period.ts';
import type { Period } from '../../../parts/period.ts';
import { marginsWords } from '../margins-words.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** A longer period is shown by its days. */
const HOURLY_DAYS_MAX = 2;
/** The groups that the page names. All others are one group. */
const GROUPS_SHOWN = 20;

export type MarginSplit = 'channel' | 'model' | 'account';
type Answer = RpcAnswer<'billing.AccountService/GetMargins'>;
type Group = Answer['groups'][number];
type Sum = NonNullable<Group['total']>;

const SPLITS = {
  channel: 'MARGIN_SPLIT_CHANNEL',
  model: 'MARGIN_SPLIT_MODEL',
  account: 'MARGIN_SPLIT_ACCOUNT',
} as const satisfies Record<MarginSplit, RpcRequest<'billing.AccountService/GetMargins'>['splitBy']>;
const NOTHING: Sum = {
  ...{ requests: '0', chargedNanos: '0', costNanos: '0' },
  ...{ reportedRequests: '0', reportedChargedNanos: '0', reportedCostNanos: '0' },
  ...{ uncostedRequests: '0', uncostedChargedNanos: '0' },
};

/** The margins that a page asks for. */
export interface MarginsQuestion {
  readonly period: Period;
  readonly split: MarginSplit;
  /** Only this group; empty for all. */
  readonly key: string;
}

/** The margins of a period, with what the page computes of them. */
export interface MarginsView {
  readonly split: MarginSplit;
  readonly key: string;
  readonly bucket: 'hour' | 'day';
  /** The begins of the hours or days of the period, without a gap. */
  readonly parts: readonly number[];
  /** One for each currency. They are never added up. */
  readonly currencies: readonly CurrencyMargins[];
  readonly now: number;
}

export interface CurrencyMargins {
  /** ISO 4217 code. */
  readonly currency: string;
  /** The largest first; all that are not named are the last. */
  readonly groups: readonly MarginGroup[];
  readonly total: MarginSums;
  /** The sums of all groups, one for each part of the period. */
  readonly byPart: readonly MarginSums[];
}

export interface MarginGroup {
  /** The channel, the model or the account; empty for a channel that is not known, and for the rest. */
  readonly key: string;
  /** True if these are all groups that are not named. */
  readonly isRest: boolean;
  readonly total: MarginSums;
  /** The margins, one for each part of the period. */
  readonly measured: readonly string[];
  readonly estimated: readonly string[];
}

/** Amounts are decimals in units of the currency. */
export interface MarginSums {
  /** Work with a cost that the upstreams reported. */
  readonly measured: MarginPart;
  /** Work with a cost that is estimated by the upstream prices of the configuration. */
  readonly estimated: MarginPart;
  /** Charged work without a known cost. It is in no margin. */
  readonly unknown: { readonly requests: number; readonly charged: string };
  /** The charge for work with a known cost. */
  readonly charged: string;
  readonly margin: string;
  /** All work. */
  readonly requests: number;
}

export interface MarginPart {
  readonly requests: number;
  readonly charged: string;
  readonly cost: string;
  readonly margin: string;
}

/** The request for the margins of whole days, by hours if the period is short. */
export function toMarginsRequest({
  period,
  split,
  key,
}: MarginsQuestion): RpcRequest<'billing.AccountService/GetMargins'> {
  return {
    ...toBounds(period),
    splitBy: SPLITS[split],
    bucket: chooseBucket(period) === 'hour' ? 'MARGIN_BUCKET_HOUR' : 'MARGIN_BUCKET_DAY',
    key,
    limit: GROUPS_SHOWN,
  };
}

function chooseBucket(period: Period): MarginsView['bucket'] {
  const { from, to } = toBounds(period);
  return readTime(to) - readTime(from) <= HOURLY_DAYS_MAX * DAY_MS ? 'hour' : 'day';
}

/** Adds up the margins by currency, and fills the parts of the period that have no work. */
export function addUpMargins({ period, split, key }: MarginsQuestion, { groups }: Answer, now: number): MarginsView {
  const bounds = toBounds(period);
  const [from, to] = [readTime(bounds.from), readTime(bounds.to)];
  const bucket = chooseBucket(period);
  const unit = bucket === 'hour' ? HOUR_MS : DAY_MS;
  const parts = Array.from({ length: (to - from) / unit }, (_, at) => from + at * unit);
  const byCurrency = Map.groupBy(groups, ({ currency }) => currency);
  return {
    ...{ split, key, bucket, parts, now },
    currencies: [...byCurrency].map(([currency, own]) => toCurrencyMargins(currency, own, parts)),
  };
}

function toCurrencyMargins(currency: string, own: readonly Group[], parts: readonly number[]): CurrencyMargins {
  const groups = own.map((group) => ({
    ...group,
    byBegin: new Map(group.parts.map(({ beginsAt = '', sum = NOTHING }) => [readTime(beginsAt), sum])),
  }));
  return {
    currency,
    groups: groups.map(({ key, rest, total = NOTHING, byBegin }) => {
      const sums = parts.map((at) => toSums(byBegin.get(at) ?? NOTHING));
      return {
        ...{ key, isRest: rest, total: toSums(total) },
        measured: sums.map(({ measured }) => measured.margin),
        estimated: sums.map(({ estimated }) => estimated.margin),
      };
    }),
    total: toSums(groups.map(({ total = NOTHING }) => total).reduce(addSums, NOTHING)),
    byPart: parts.map((at) => toSums(groups.map(({ byBegin }) => byBegin.get(at) ?? NOTHING).reduce(addSums, NOTHING))),
  };
}

function addSums(left: Sum, right: Sum): Sum {
  const keys = Object.keys(NOTHING) as (keyof Sum)[];
  return Object.fromEntries(keys.map((key) => [key, (BigInt(left[key]) + BigInt(right[key])).toString()])) as Sum;
}

function toSums(sum: Sum): MarginSums {
  const [charged, cost] = [BigInt(sum.chargedNanos), BigInt(sum.costNanos)];
  const [reportedCharged, reportedCost] = [BigInt(sum.reportedChargedNanos), BigInt(sum.reportedCostNanos)];
  const [requests, reported, uncosted] = [sum.requests, sum.reportedRequests, sum.uncostedRequests].map(Number) as [
    number,
    number,
    number,
  ];
  return {
    measured: toPart(reported, reportedCharged, reportedCost),
    estimated: toPart(requests - reported, charged - reportedCharged, cost - reportedCost),
    unknown: { requests: uncosted, charged: formatDecimal(BigInt(sum.uncostedChargedNanos)) },
    charged: formatDecimal(charged),
    margin: formatDecimal(charged - cost),
    requests: requests + uncosted,
  };
}

function toPart(requests: number, charged: bigint, cost: bigint): MarginPart {
  return {
    requests,
    charged: formatDecimal(charged),
    cost: formatDecimal(cost),
    margin: formatDecimal(charged - cost),
  };
}

/** Names the channel, the model or the account of a group, or says that it has no name. */
export function nameMarginGroup({ key, isRest }: Pick<MarginGroup, 'key' | 'isRest'>): string {
  if (isRest) return marginsWords.rest;
  return key || marginsWords.unnamed;
}

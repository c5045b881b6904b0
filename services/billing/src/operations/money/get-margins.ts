import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { MarginSplit as WireSplit } from '@reelgate/proto/billing/v1/account_service';
import type { MarginGroup } from '@reelgate/proto/billing/v1/money';
import { DAY_MS, HOUR_MS, toModel } from '../../domain/usage.ts';
import { badField } from '../../billing-refusals.ts';
import type { MarginBucket, MarginQuery, MarginRow } from '../../store/money/margin-store.ts';
import type { BillingDeps } from '../deps.ts';
import { newMarginGroups } from './margin-groups.ts';

/** The hours of money are kept as long. */
const DAYS_MAX = 92;
const HOURS_MAX = 96;
const BUCKET_MS: Readonly<Record<MarginBucket, number>> = { hour: HOUR_MS, day: DAY_MS };

export type MarginSplit = EnumWord<typeof WireSplit>;

export interface MarginsQuery extends MarginQuery {
  readonly split: MarginSplit;
  /** The one channel, model or account to read. Undefined for all of them. */
  readonly key: string | undefined;
  /** The most groups of a currency that are named; all others are one. */
  readonly limit: number;
}

type MarginDeps = Pick<BillingDeps, 'margins' | 'models'>;

/**
 * The margins of a period over time, split by channel, model or account. Currencies stay apart. Ordered by currency, and
 * then by size, descending; the group of the rest is the last.
 */
export async function getMargins(deps: MarginDeps, asked: MarginsQuery, signal: AbortSignal): Promise<MarginGroup[]> {
  assertBounds(asked);
  const groups = newMarginGroups(asked.limit);
  for await (const part of readParts(deps, asked)) {
    signal.throwIfAborted();
    for (const { key, row } of part.rows) groups.add(key, row);
    if (part.isWhole) groups.cut();
  }
  return groups.list();
}

interface MarginPart {
  readonly rows: readonly { readonly key: string; readonly row: MarginRow }[];
  /** True if no later part has more of these groups. */
  readonly isWhole: boolean;
}

async function* readParts({ margins, models }: MarginDeps, asked: MarginsQuery): AsyncGenerator<MarginPart> {
  const { split, key: only, bucket } = asked;
  const unit = BUCKET_MS[bucket];
  const span = { bucket, from: asked.from - (asked.from % unit), to: Math.ceil(asked.to / unit) * unit };
  if (split === 'account') {
    for await (const rows of margins.ofAccounts(span, only))
      yield { rows: rows.map((row) => ({ key: row.key, row })), isWhole: true };
    return;
  }
  const known = models();
  for await (const rows of margins.ofPlaces(split === 'model' ? 'priceKey' : 'channel', span)) {
    const named = rows.map((row) => ({ key: split === 'model' ? toModel(row.key, known) : row.key, row }));
    yield { rows: only === undefined ? named : named.filter(({ key }) => key === only), isWhole: false };
  }
}

function assertBounds({ from, to, bucket }: MarginsQuery): void {
  if (from < 0) throw badField('from', 'must be a time from 1970 on');
  if (from >= to) throw badField('to', 'must be later than from');
  if (bucket === 'hour' && to - from > HOURS_MAX * HOUR_MS)
    throw badField('to', `must be at most ${HOURS_MAX} hours after from, if the bucket is an hour`);
  if (to - from > DAYS_MAX * DAY_MS) throw badField('to', `must be at most ${DAYS_MAX} days after from`);
}

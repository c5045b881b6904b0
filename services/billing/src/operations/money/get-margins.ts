import { newMarginGroups } from '../../domain/margin-groups.ts';
import type { MarginGroup } from '../../domain/margin-groups.ts';
import { DAY_MS, HOUR_MS, toModel } from '../../domain/usage.ts';
import { badField } from '../../billing-refusals.ts';
import type { MarginBucket, MarginQuery, MarginRow } from '../../store/money/margin-store.ts';
import type { BillingDeps } from '../deps.ts';

/** The hours of money are kept as long. */
const DAYS_MAX = 92;
const HOURS_MAX = 96;
const BUCKET_MS: Readonly<Record<MarginBucket, number>> = { hour: HOUR_MS, day: DAY_MS };

export type MarginSplit = 'channel' | 'model' | 'account';

export interface MarginsQuery extends MarginQuery {
  readonly split: MarginSplit;
  /** Only this channel, model or account; undefined: all. */
  readonly key: string | undefined;
  /** The most groups of a currency that are named; all others are one. */
  readonly limit: number;
}

export interface Margins {
  /** By currency, and then the largest first; the rest is the last. */
  readonly groups: readonly MarginGroup[];
  /** True if work without a known cost was not counted in a part of the period. */
  readonly isIncomplete: boolean;
}

type MarginDeps = Pick<BillingDeps, 'margins' | 'models'>;

/** The margins of a period over time, split by channel, model or account. Currencies stay apart. */
export async function getMargins(deps: MarginDeps, asked: MarginsQuery, signal: AbortSignal): Promise<Margins> {
  assertBounds(asked);
  const groups = newMarginGroups(asked.limit);
  let isIncomplete = false;
  for await (const part of readParts(deps, asked)) {
    signal.throwIfAborted();
    isIncomplete ||= part.isIncomplete;
    for (const { key, row } of part.rows) groups.add(key, row);
    if (part.isWhole) groups.cut();
  }
  return { groups: groups.list(), isIncomplete };
}

interface MarginPart {
  readonly rows: readonly { readonly key: string; readonly row: MarginRow }[];
  readonly isIncomplete: boolean;
  /** True if no later part has more of these groups. */
  readonly isWhole: boolean;
}

async function* readParts({ margins, models }: MarginDeps, asked: MarginsQuery): AsyncGenerator<MarginPart> {
  const { split, key: only, bucket } = asked;
  const unit = BUCKET_MS[bucket];
  const span = { bucket, from: asked.from - (asked.from % unit), to: Math.ceil(asked.to / unit) * unit };
  if (split === 'account') {
    for await (const rows of margins.ofAccounts(span, only))
      yield { rows: rows.map((row) => ({ key: row.key, row })), isIncomplete: false, isWhole: true };
    return;
  }
  const known = models();
  for await (const { rows, isIncomplete } of margins.ofPlaces(split === 'model' ? 'priceKey' : 'channel', span)) {
    const named = rows.map((row) => ({ key: split === 'model' ? toModel(row.key, known) : row.key, row }));
    yield {
      rows: only === undefined ? named : named.filter(({ key }) => key === only),
      ...{ isIncomplete, isWhole: false },
    };
  }
}

function assertBounds({ from, to, bucket }: MarginsQuery): void {
  if (from < 0) throw badField('from', 'must be a time from 1970 on');
  if (from >= to) throw badField('to', 'must be later than from');
  if (bucket === 'hour' && to - from > HOURS_MAX * HOUR_MS)
    throw badField('to', `must be at most ${HOURS_MAX} hours after from, if the bucket is an hour`);
  if (to - from > DAYS_MAX * DAY_MS) throw badField('to', `must be at most ${DAYS_MAX} days after from`);
}

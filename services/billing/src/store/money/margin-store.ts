import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { MarginBucket as WireBucket } from '@reelgate/proto/billing/v1/account_service';
import type { GroupMargin } from '../../domain/margin.ts';
import type { HourSpan } from './money-store.ts';

export type MarginBucket = EnumWord<typeof WireBucket>;

export interface MarginQuery extends HourSpan {
  readonly bucket: MarginBucket;
}

/** The margins of a bucket of time. */
export interface MarginRow extends GroupMargin {
  /** The channel, the price key or the account. */
  readonly key: string;
}

/** Both reads come in parts, so that no statement takes long. A bucket can be in several parts. */
export interface MarginStore {
  /** As the processes have counted them, by channel or price key. */
  ofPlaces(place: 'channel' | 'priceKey', query: MarginQuery): AsyncIterable<readonly MarginRow[]>;
  /** As the settlements have written them. Each part has all rows of its accounts. */
  ofAccounts(query: MarginQuery, accountId?: string): AsyncIterable<readonly MarginRow[]>;
}

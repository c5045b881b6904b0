import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { MarginBucket as WireBucket } from '@reelgate/proto/billing/v1/account_service';
import type { MarginCount, GroupMargin } from '../../domain/margin.ts';
import type { Nanos } from '../../domain/money.ts';

/** The money of all accounts with one currency. */
export interface AccountsMoney {
  readonly currency: string;
  readonly balance: Nanos;
  readonly held: Nanos;
  readonly accounts: bigint;
}

/** The charges under a price key. */
export interface SettledMoney {
  readonly priceKey: string;
  readonly currency: string;
  readonly requests: bigint;
  readonly charged: Nanos;
}

/** The place where money was counted. An unknown part is empty. */
export interface MoneyPlace {
  readonly channel: string;
  readonly priceKey: string;
  readonly currency: string;
}

/** The margins of a place, and the counts of overruns and lapses. */
export interface MoneyCount extends MarginCount {
  /** Settlements that cost more than their hold, and the amount above the hold. */
  readonly overruns: bigint;
  readonly overrun: Nanos;
  /** Calls that lapsed and were charged their hold. */
  readonly lapses: bigint;
}

/** The counts of one process in an hour. */
export interface MoneyHour extends MoneyPlace, MoneyCount {
  /** The first millisecond of the hour. */
  readonly hour: number;
  readonly process: string;
}

/** Whole hours, as their first milliseconds. */
export interface HourSpan {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** The amount that is held under a price key, in units of the currency. */
export interface HeldMoney {
  readonly priceKey: string;
  readonly currency: string;
  readonly units: number;
}

export interface MoneyHourWriter {
  /** Replaces the rows of these hours, so that a repeated write has no effect. */
  write(hours: readonly MoneyHour[]): Promise<void>;
}

export interface MoneyStore extends MoneyHourWriter {
  /** The open holds of tasks and of calls. The limits on work in flight bound their number. */
  held(): Promise<readonly HeldMoney[]>;
  accounts(): Promise<readonly AccountsMoney[]>;
  settled(span: HourSpan): Promise<readonly SettledMoney[]>;
  /** The sums of every process, by place. */
  counted(span: HourSpan): Promise<readonly (MoneyPlace & MoneyCount)[]>;
  /** Removes older hours. */
  removeBefore(hour: number): Promise<void>;
}

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

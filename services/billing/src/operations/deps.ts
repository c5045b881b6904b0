import type { Clock } from '@reelgate/platform/clock';
import type { NewId, Random } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { Nanos } from '../domain/money.ts';
import type { UpstreamPrices } from '../domain/apply-usage.ts';
import type { Measures } from '../billing-metrics.ts';
import type { ActStore } from '../store/acts/act-store.ts';
import type { AccountList, AccountStore } from '../store/accounts/account-store.ts';
import type { CallStore } from '../store/calls/call-store.ts';
import type { HoldStore } from '../store/holds/hold-store.ts';
import type { LedgerAudit, LedgerChecks } from '../store/ledger/ledger-audit.ts';
import type { MarginStore, MoneyStore } from '../store/money/money-store.ts';
import type { PriceStore } from '../store/prices/price-store.ts';
import type { SessionStore } from '../store/sessions/session-store.ts';
import type { TokenStore } from '../store/tokens/token-store.ts';
import type { UsageStore } from '../store/usage/usage-store.ts';
import type { UnwrittenBatches } from './calls/unwritten-batches.ts';
import type { MoneyCounts } from './money/count-money.ts';
import type { KeyHasher } from './tokens/token-keys.ts';

/** The dependencies of the operations. Each operation takes the part that it needs. */
export interface BillingDeps {
  readonly accounts: AccountStore;
  readonly tokens: TokenStore;
  readonly prices: PriceStore;
  readonly sessions: SessionStore;
  readonly holds: HoldStore;
  readonly calls: CallStore;
  readonly usage: UsageStore;
  readonly accountList: AccountList;
  readonly acts: ActStore;
  readonly audit: LedgerAudit;
  readonly ledgerChecks: LedgerChecks;
  readonly money: MoneyStore;
  readonly margins: MarginStore;
  readonly moneyCounts: MoneyCounts;
  readonly hashesOf: KeyHasher;
  /** Announces a changed token to the caches of principals. The message can be lost. */
  readonly announceToken: (tokenId: string) => void;
  readonly measures: Measures;
  /** The public ids of the current configuration. */
  readonly models: () => ReadonlySet<string>;
  /** The upstream prices of the current configuration. */
  readonly upstreamPrices: () => UpstreamPrices;
  /** Batches of calls with holds that the disk still writes. */
  readonly unwritten: UnwrittenBatches;
  /** A larger hold of a call is durable before its caller may send the call. */
  readonly sendAheadMax: Nanos;
  /** Usage up to this many times the hold is charged in full. */
  readonly overrunFactor: number;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: Random;
  readonly log: Log;
}

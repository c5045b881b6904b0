import { create } from '@bufbuild/protobuf';
import { publishConfigurationApplied } from '@reelgate/platform/bus/publish-service-events';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { newLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { awaitSql } from '@reelgate/platform/sql/await-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { billingConfig } from './config.ts';
import type { BillingConfig } from './config.ts';
import { announceLowCredit } from './events/announce-low-credit.ts';
import { onTaskFinished } from './events/on-task-finished.ts';
import { startServingReplicas } from './events/serving-replicas.ts';
import { watchHeldMoney } from './billing-metrics.ts';
import { billingMeasures } from './billing-metrics.ts';
import type { BillingDeps } from './operations/deps.ts';
import { keyHasher } from './operations/tokens/token-keys.ts';
import { ledgerCheck, ledgerSelfCheck } from './operations/check-ledger.ts';
import { unwrittenBatches } from './operations/calls/unwritten-batches.ts';
import { lapseCalls } from './operations/calls/settle-calls.ts';
import { putAccounts } from './operations/accounts/accounts.ts';
import type { NewKey } from './operations/accounts/accounts.ts';
import { lowAccounts } from './operations/accounts/watch-low-accounts.ts';
import { moneyCounter } from './operations/money/count-money.ts';
import type { MoneyCounts } from './operations/money/count-money.ts';
import { removeOldRecords } from './operations/remove-old-records.ts';
import { accountService, usageService } from './rpc/account-service.ts';
import { billingService } from './rpc/billing-service.ts';
import { callService } from './rpc/call-service.ts';
import { sessionService } from './rpc/session-service.ts';
import { sqlActs } from './store/acts/sql-acts.ts';
import { sqlAccountList, sqlAccountStore } from './store/accounts/sql-account-store.ts';
import { sqlLowAccounts } from './store/accounts/sql-low-accounts.ts';
import { sqlCallStore } from './store/calls/sql-call-store.ts';
import { sqlHoldStore } from './store/holds/sql-hold-store.ts';
import { sqlLedgerAudit } from './store/ledger/sql-ledger-audit.ts';
import { sqlLedgerCheck } from './store/ledger/sql-ledger-checks.ts';
import { sqlLedgerChecks } from './store/ledger/sql-ledger-checks.ts';
import { sqlMarginStore, sqlMoneyStore } from './store/money/sql-money-store.ts';
import { sqlPriceStore } from './store/prices/sql-price-store.ts';
import { sqlSessionStore } from './store/sessions/sql-session-store.ts';
import { sqlTokenStore } from './store/tokens/sql-token-store.ts';
import { sqlUsageStore } from './store/usage/sql-usage-store.ts';

const GROUP = 'billing';
const LAPSES_IDLE_MS = 60_000;
const LEDGER_IDLE_MS = 5000;
const COUNT_IDLE_MS = 1000;
const OLD_RECORDS_IDLE_MS = 600_000;
const MONEY_IDLE_MS = 10_000;

export { keyHasher } from './operations/tokens/token-keys.ts';
export { readOpeningAccounts } from './store/accounts/read-opening-accounts.ts';
export type { OpeningAccount } from './store/accounts/read-opening-accounts.ts';

export interface RunningBilling extends RunningService {
  /** The keys that this start created. The operator sees them once, and they are not stored. */
  readonly newKeys: readonly NewKey[];
}

interface CurrentConfig {
  readonly moneyCounts: MoneyCounts;
  readonly now: () => BillingConfig;
}

export async function startBilling(config: BillingConfig, foundation: Foundation): Promise<RunningBilling> {
  const { bus, log, clock, dataDir } = foundation;
  const lifecycle = newLifecycle(log, clock);
  try {
    const sql = await awaitSql({ ...config.store, dataDir }, foundation);
    lifecycle.add('database', () => sql.close());
    let current = config;
    const moneyCounts = startMoneyCounts(sql, foundation, lifecycle);
    const deps = buildDeps(sql, { ...config, moneyCounts, now: () => current }, foundation);
    await deps.prices.put(config.prices, clock.now());
    const newKeys = await putAccounts(deps, config.accounts, { makeKeys: true });
    const subscription = await bus.subscribe(TaskFinishedSchema, GROUP, onTaskFinished(deps));
    lifecycle.add('events', () => subscription.stop());
    const lapses = startWorker({ name: 'lapses', clock, log, idleMs: LAPSES_IDLE_MS, pass: () => lapseCalls(deps) });
    lifecycle.add('lapses', () => lapses.stop());
    const old = startWorker({
      ...{ name: 'old records', clock, log, idleMs: OLD_RECORDS_IDLE_MS },
      pass: () => removeOldRecords(deps),
    });
    lifecycle.add('old records', () => old.stop());
    watchHeldMoney(deps, foundation.metrics);
    startCounts(sql, foundation, lifecycle);
    const replicas = await startServingReplicas(foundation.newId('replica'), foundation);
    lifecycle.add('replicas', () => replicas.stop());
    return {
      bindings: [
        billingService(deps, foundation.tracing),
        accountService(deps),
        callService(deps),
        usageService(deps),
        sessionService(deps),
      ],
      routes: [],
      newKeys,
      ready: async () => (await sql.reserved.read('SELECT 1 AS alive')).length === 1,
      reload: async (value) => {
        const renewed = billingConfig(value);
        current = renewed;
        await deps.prices.put(renewed.prices, clock.now());
        await putAccounts(deps, renewed.accounts, { makeKeys: false });
        publishConfigurationApplied(foundation, 'billing');
      },
      // A call that cannot be settled is charged its whole hold. Another replica can settle it as well.
      isNeeded: async () => !replicas.hasOthers() && (await deps.calls.areOpen(clock.now())),
      drain: () => replicas.leave(),
      stop: () => lifecycle.stop(),
    };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** Starts the workers that read the whole store in small pages, one at each pass. */
function startCounts(sql: Sql, foundation: Foundation, lifecycle: Lifecycle): void {
  const { bus, clock, log, metrics } = foundation;
  const check = ledgerCheck({ ...foundation, checkPage: sqlLedgerCheck(sql) });
  foundation.checks?.add(ledgerSelfCheck(check.findings, clock));
  const ledger = startWorker({ name: 'ledger check', clock, log, idleMs: LEDGER_IDLE_MS, pass: check.pass });
  lifecycle.add('ledger check', () => ledger.stop());
  const count = lowAccounts({ store: sqlLowAccounts(sql), announce: announceLowCredit(bus), metrics, clock });
  const accounts = startWorker({ name: 'count of accounts', clock, log, idleMs: COUNT_IDLE_MS, pass: count });
  lifecycle.add('count of accounts', () => accounts.stop());
}

/** The counts of this process, written at the stop too. They are estimates: a killed process loses the last ones. */
function startMoneyCounts(sql: Sql, { clock, log, newId }: Foundation, lifecycle: Lifecycle): MoneyCounts {
  const counter = moneyCounter(sqlMoneyStore(sql), { clock, process: newId('process') });
  lifecycle.add('last counts of money', () => counter.write());
  const pass = async (): Promise<number> => {
    await counter.write();
    return 0;
  };
  const worker = startWorker({ name: 'counts of money', clock, log, idleMs: MONEY_IDLE_MS, pass });
  lifecycle.add('counts of money', () => worker.stop());
  return counter;
}

function buildDeps(
  sql: Sql,
  { overrunFactor, sendAheadMax, moneyCounts, now }: BillingConfig & CurrentConfig,
  { bus, clock, log, metrics, newId, random, acceptedKeys }: Foundation,
): BillingDeps {
  return {
    accounts: sqlAccountStore(sql),
    tokens: sqlTokenStore(sql),
    prices: sqlPriceStore(sql, clock),
    sessions: sqlSessionStore(sql),
    holds: sqlHoldStore(sql),
    calls: sqlCallStore(sql),
    usage: sqlUsageStore(sql),
    accountList: sqlAccountList(sql),
    acts: sqlActs(sql),
    audit: sqlLedgerAudit(sql),
    ledgerChecks: sqlLedgerChecks(sql),
    money: sqlMoneyStore(sql),
    margins: sqlMarginStore(sql),
    moneyCounts,
    hashesOf: keyHasher(acceptedKeys.tokens),
    announceToken: (tokenId) => bus.announce(TokenChangedSchema, create(TokenChangedSchema, { tokenId })),
    measures: billingMeasures(metrics, () => now().models),
    models: () => now().models,
    upstreamPrices: () => now().upstreamPrices,
    unwritten: unwrittenBatches(),
    sendAheadMax,
    overrunFactor,
    clock,
    log,
    newId,
    random,
  };
}

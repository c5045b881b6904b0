import { create } from '@bufbuild/protobuf';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { openLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { awaitSql } from '@reelgate/platform/sql/await-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { billingConfig } from './config.ts';
import type { BillingConfig } from './config.ts';
import { onTaskFinished } from './events/on-task-finished.ts';
import { startServingReplicas } from './events/serving-replicas.ts';
import { billingMeasures } from './billing-metrics.ts';
import type { BillingDeps } from './operations/deps.ts';
import { keyHasher } from './operations/tokens/hash-key.ts';
import { lapseCalls } from './operations/calls/lapse-calls.ts';
import { putAccounts } from './operations/accounts/put-accounts.ts';
import type { NewKey } from './operations/accounts/put-accounts.ts';
import { accountService } from './rpc/account-service.ts';
import { billingService } from './rpc/billing-service.ts';
import { callService } from './rpc/call-service.ts';
import { usageService } from './rpc/usage-service.ts';
import { sqlAccountStore } from './store/accounts/sql-account-store.ts';
import { sqlCallStore } from './store/calls/sql-call-store.ts';
import { sqlHoldStore } from './store/holds/sql-hold-store.ts';
import { sqlLedgerAudit } from './store/ledger/sql-ledger-audit.ts';
import { sqlPriceStore } from './store/prices/sql-price-store.ts';
import { sqlTokenStore } from './store/tokens/sql-token-store.ts';
import { sqlUsageStore } from './store/usage/sql-usage-store.ts';

const GROUP = 'billing';
const LAPSES_IDLE_MS = 60_000;

export interface RunningBilling extends RunningService {
  /** The keys that this start made, to be shown to the operator once. They are not stored. */
  readonly newKeys: readonly NewKey[];
}

export async function startBilling(config: BillingConfig, foundation: Foundation): Promise<RunningBilling> {
  const { bus, log, clock, dataDir } = foundation;
  const lifecycle = openLifecycle(log);
  try {
    const sql = await awaitSql({ ...config.store, dataDir }, foundation);
    lifecycle.add('database', () => sql.close());
    let { models } = config;
    const deps = depsOn(sql, { ...config, modelsNow: () => models }, foundation);
    await deps.prices.put(config.prices, clock.now());
    const newKeys = await putAccounts(deps, config.accounts, { makeKeys: true });
    const subscription = await bus.subscribe(TaskFinishedSchema, GROUP, onTaskFinished(deps));
    lifecycle.add('events', () => subscription.stop());
    const lapses = startWorker({ name: 'lapses', clock, log, idleMs: LAPSES_IDLE_MS, pass: () => lapseCalls(deps) });
    lifecycle.add('lapses', () => lapses.stop());
    const replicas = await startServingReplicas(foundation.newId('replica'), foundation);
    lifecycle.add('replicas', () => replicas.stop());
    return {
      bindings: [billingService(deps), accountService(deps), callService(deps), usageService(deps)],
      routes: [],
      newKeys,
      ready: async () => (await sql.read('SELECT 1 AS alive')).length === 1,
      reload: async (value) => {
        const { prices, accounts, models: renewed } = billingConfig(value);
        models = renewed;
        await deps.prices.put(prices, clock.now());
        await putAccounts(deps, accounts, { makeKeys: false });
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

function depsOn(
  sql: Sql,
  { overrunFactor, modelsNow }: BillingConfig & { readonly modelsNow: BillingDeps['models'] },
  { bus, clock, log, metrics, newId, random, acceptedKeys }: Foundation,
): BillingDeps {
  return {
    accounts: sqlAccountStore(sql),
    tokens: sqlTokenStore(sql),
    prices: sqlPriceStore(sql, clock),
    holds: sqlHoldStore(sql),
    calls: sqlCallStore(sql),
    usage: sqlUsageStore(sql),
    audit: sqlLedgerAudit(sql),
    hashesOf: keyHasher(acceptedKeys.tokens),
    announceToken: (tokenId) => {
      bus.announce(TokenChangedSchema, create(TokenChangedSchema, { tokenId }));
    },
    measures: billingMeasures(metrics),
    models: modelsNow,
    overrunFactor,
    clock,
    log,
    newId,
    random,
  };
}

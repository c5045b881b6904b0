import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import type { Bus } from '@reelgate/platform/bus/bus';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import type { Random } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import type { Log } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import type { AcceptedKeys } from '@reelgate/platform/secret';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import { openSqlite } from '@reelgate/platform/sql/sqlite';
import type { Sql } from '@reelgate/platform/sql/sql';
import { inTime } from '@reelgate/platform/testing/bounded-waits';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import type { Tracing } from '@reelgate/platform/trace/trace';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { SessionService } from '@reelgate/proto/billing/v1/session_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { PriceFactsSchema } from '@reelgate/proto/billing/v1/price';
import { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { startBilling } from '../src/app.ts';
import type { RunningBilling } from '../src/app.ts';
import { billingConfig } from '../src/config.ts';

/** The parts of the configuration file that billing owns, as the schema returns them. */
export interface ConfigValue {
  readonly billing: { readonly database?: string; readonly overrun_factor: number; readonly send_ahead_max: string };
  readonly prices: Readonly<Record<string, object>>;
  readonly accounts: readonly object[];
  readonly models?: Readonly<Record<string, object>>;
  readonly channels?: readonly {
    readonly id?: string;
    readonly models: Readonly<Record<string, string>>;
    readonly upstream_prices?: Readonly<Record<string, object>>;
  }[];
}

export const KEY = 'sk-a-key-of-the-tests';
export const PRICES = {
  'Alpha-H3': { per_second: { '768P': '0.08', '2K': '0.13' }, images: { free: 5, each: '0.04' } },
  'Alpha-H3__regeneration': { per_second: '0.05' },
  'Alpha-H3__context_ir': { per_million_tokens: { input: '0.90', output: '3.60' }, hold: '0.05' },
};

/** The account `demo` with this credit and one token of this key. */
export function aConfig({
  credit = '100.00',
  key = KEY,
  prices = PRICES,
  token = {},
}: { credit?: string; key?: string; prices?: Record<string, object>; token?: object } = {}): ConfigValue {
  return {
    billing: { overrun_factor: 10, send_ahead_max: '1' },
    prices,
    accounts: [
      { id: 'demo', currency: 'USD', credit, upstream_accounts: [], tokens: [{ key, models: ['*'], ...token }] },
    ],
  };
}

/** Five seconds of 768P: 0.40. */
export function facts(some: MessageInitShape<typeof PriceFactsSchema> = {}): MessageInitShape<typeof PriceFactsSchema> {
  return { priceKey: 'Alpha-H3', resolution: '768P', seconds: 5n, ...some };
}

/** A request for a hold of the account `demo`. */
export function order(
  { tokenId }: Pick<TestBilling, 'tokenId'>,
  taskId: string,
  some: Parameters<typeof facts>[0] = {},
) {
  return { taskId, accountId: 'demo', tokenId, facts: facts(some) };
}

export interface TestBilling {
  readonly billing: Client<typeof BillingService>;
  readonly accounts: Client<typeof AccountService>;
  readonly calls: Client<typeof CallService>;
  readonly usage: Client<typeof UsageService>;
  readonly sessions: Client<typeof SessionService>;
  readonly service: RunningBilling;
  /** The same database, for access without the service. */
  readonly sql: Sql;
  readonly clock: FakeClock;
  readonly bus: Bus;
  readonly metrics: Metrics;
  /** The token of KEY. */
  readonly tokenId: string;
  /** Publishes an event and waits until it is handled. */
  finish(event: Omit<MessageInitShape<typeof TaskFinishedSchema>, '$typeName'>): Promise<void>;
  /** Stops the service and starts it again on the same data. */
  restart(value?: ConfigValue): Promise<TestBilling>;
  stop(): Promise<void>;
}

/** The location of a service's tables. */
export interface Location {
  readonly dataDir: string;
  readonly url: string | undefined;
  remove(): void;
}

export function temporaryLocation(url?: string): Location {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'reelgate-billing-'));
  return {
    dataDir,
    url,
    remove: () => {
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A service on a real database. */
export async function openBilling(
  location: Location,
  value: ConfigValue = aConfig(),
  clock: FakeClock = fakeClock(),
  acceptedKeys: AcceptedKeys = acceptOnly(new Secret('a signing key of the tests')),
  random: Random = systemRandom,
  { log = silentLog, tracing = NO_TRACING }: { readonly log?: Log; readonly tracing?: Tracing } = {},
): Promise<TestBilling> {
  const local = newLocalBus(clock, silentLog);
  let handled = Promise.withResolvers<undefined>();
  const bus: Bus = {
    ...local,
    subscribe: (schema, group, handle) =>
      local.subscribe(schema, group, (message, span) =>
        handle(message, span).finally(() => {
          handled.resolve(undefined);
        }),
      ),
  };
  const metrics = newMetrics(false);
  const config = billingConfig({
    ...value,
    billing: { ...value.billing, ...(location.url === undefined ? {} : { database: location.url }) },
  });
  const service = await startBilling(config, {
    clock,
    bus,
    metrics,
    random,
    newId: newIds(clock, random),
    log,
    signingKey: acceptedKeys.signatures[0],
    acceptedKeys,
    tracing,
    publicUrl: 'http://127.0.0.1:8080',
    dataDir: location.dataDir,
  });
  const [billingBinding, accountBinding, callBinding, usageBinding, sessionBinding] = service.bindings;
  const billing = directClient(BillingService, billingBinding!, aCaller());
  const sql =
    location.url === undefined
      ? openSqlite(path.join(location.dataDir, 'billing.sqlite'))
      : openPostgres(location.url, { connections: 2 });
  const known = await billing.authenticate({ key: KEY }).catch(() => undefined);
  const stop = async (): Promise<void> => {
    await bus.close();
    await service.stop();
    await sql.close();
  };
  return {
    billing,
    accounts: directClient(AccountService, accountBinding!, aCaller()),
    calls: directClient(CallService, callBinding!, aCaller()),
    usage: directClient(UsageService, usageBinding!, aCaller()),
    sessions: directClient(SessionService, sessionBinding!, aCaller()),
    service,
    sql,
    clock,
    bus,
    metrics,
    tokenId: known?.principal?.tokenId ?? '',
    stop,
    finish: async (event) => {
      handled = Promise.withResolvers();
      await bus.publish(TaskFinishedSchema, create(TaskFinishedSchema, event), String(clock.now() + Math.random()));
      await inTime(handled.promise);
    },
    restart: async (again = value) => {
      await stop();
      return openBilling(location, again, clock, acceptedKeys, random, { log, tracing });
    },
  };
}

import path from 'node:path';
import type * as BillingAppModule from '@reelgate/billing/app';
import type * as BillingConfigModule from '@reelgate/billing/config';
import type * as GatewayAppModule from '@reelgate/gateway/app';
import type * as GatewayConfigModule from '@reelgate/gateway/config';
import type * as MediaAppModule from '@reelgate/media/app';
import type * as MediaConfigModule from '@reelgate/media/config';
import type * as TasksAppModule from '@reelgate/tasks/app';
import type * as TasksConfigModule from '@reelgate/tasks/config';
import type * as LocalBusModule from '@reelgate/platform/bus/local-bus';
import type * as IdsModule from '@reelgate/platform/ids';
import type * as MetricsModule from '@reelgate/platform/metrics/metrics';
import type * as SecretModule from '@reelgate/platform/secret';
import type * as SqlModule from '@reelgate/platform/sql/sql';
import type * as TraceModule from '@reelgate/platform/trace/trace';
import type * as DirectClientModule from '@reelgate/platform/rpc/direct-client';
import type * as FetchFaultModule from '@reelgate/media/domain/fetch-fault';
import type * as StorageFaultsModule from '@reelgate/media/blobs/storage-faults';
import type * as ConnectGatewayModule from '../../../deploy/program/connect-gateway.ts';
import type * as IdentitiesModule from '../../../deploy/program/keys/identities.ts';
import type * as InProcessMediaModule from '../../../deploy/program/start-all.ts';
import type * as ProgramConfigModule from '../../../deploy/program/config/program-config.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

/** The modules of the product that the simulation calls. */
async function importModules() {
  const load = <M>(file: string): Promise<M> => import(path.join(ROOT, file)) as Promise<M>;
  return {
    billing: await load<typeof BillingAppModule>('services/billing/src/app.ts'),
    billingConfig: await load<typeof BillingConfigModule>('services/billing/src/config.ts'),
    gateway: await load<typeof GatewayAppModule>('services/gateway/src/app.ts'),
    gatewayConfig: await load<typeof GatewayConfigModule>('services/gateway/src/config.ts'),
    media: await load<typeof MediaAppModule>('services/media/src/app.ts'),
    mediaConfig: await load<typeof MediaConfigModule>('services/media/src/config.ts'),
    tasks: await load<typeof TasksAppModule>('services/tasks/src/app.ts'),
    tasksConfig: await load<typeof TasksConfigModule>('services/tasks/src/config.ts'),
    localBus: await load<typeof LocalBusModule>('services/platform/src/bus/local-bus.ts'),
    ids: await load<typeof IdsModule>('services/platform/src/ids.ts'),
    metrics: await load<typeof MetricsModule>('services/platform/src/metrics/metrics.ts'),
    secret: await load<typeof SecretModule>('services/platform/src/secret.ts'),
    sql: await load<typeof SqlModule>('services/platform/src/sql/sql.ts'),
    trace: await load<typeof TraceModule>('services/platform/src/trace/trace.ts'),
    directClient: await load<typeof DirectClientModule>('services/platform/src/rpc/direct-client.ts'),
    fetchFault: await load<typeof FetchFaultModule>('services/media/src/domain/fetch-fault.ts'),
    storageFaults: await load<typeof StorageFaultsModule>('services/media/src/blobs/storage-faults.ts'),
    connectGateway: await load<typeof ConnectGatewayModule>('deploy/program/connect-gateway.ts'),
    identities: await load<typeof IdentitiesModule>('deploy/program/keys/identities.ts'),
    inProcessMedia: await load<typeof InProcessMediaModule>('deploy/program/start-all.ts'),
    programConfig: await load<typeof ProgramConfigModule>('deploy/program/config/program-config.ts'),
  };
}

/** The product, as the simulation runs it. */
export type Program = Awaited<ReturnType<typeof importModules>>;

/** Call it before the simulation replaces the parts of Node. */
export function loadProgram(): Promise<Program> {
  return importModules();
}

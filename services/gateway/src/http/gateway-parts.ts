import type { Clock } from '@reelgate/platform/clock';
import type { Secret } from '@reelgate/platform/secret';
import type { ReadSource } from '@reelgate/platform/source-address';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { Batches } from '../clients/batches-client.ts';
import type { Jobs } from '../clients/jobs-client.ts';
import type { Catalogue, GatewayLimits } from '../config.ts';
import type { ClientFiles } from '../clients/client-files.ts';
import type { AccountBooks } from '../clients/money-client.ts';
import type { MediaPort } from '../clients/media-port.ts';
import type { TasksClient } from '../clients/tasks-client.ts';
import type { ReadChargedItems } from '../clients/charged-items-client.ts';
import type { ReadUsage } from '../clients/usage-client.ts';
import type { Webhooks } from '../clients/webhooks-client.ts';
import type { RateCounters } from '../rate-counters/rate-counters.ts';
import type { Links } from '../dialects/dialect.ts';
import type { VideoModels } from '../models/list-models.ts';
import type { Principals } from '../operations/principals.ts';
import type { ChargeReader } from '../operations/read-charge.ts';
import type { TaskReader } from '../operations/read-task.ts';
import type { TaskChanges } from '../operations/task-changes.ts';
import type { Relay } from '../relay/relay.ts';
import type { EventBody } from '../webhooks/event-body.ts';
import type { BodyBudget } from './bodies/body-budget.ts';
import type { StreamPermits } from '../operations/stream-permits.ts';
import type { WaitPermits } from '../operations/await-change.ts';

/** The bounds on what is open or in memory at once, and the address that a request comes from. */
export interface RequestBounds {
  readonly eventStreams: StreamPermits;
  readonly readSource: ReadSource;
  readonly budget: BodyBudget;
  /** Reads of tasks and of asynchronous calls that wait for a change. */
  readonly waits: WaitPermits;
}

/** The parts that `app.ts` builds for the routes. */
export interface GatewayParts extends RequestBounds {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly tasks: TasksClient;
  readonly media: MediaPort;
  readonly files: ClientFiles;
  readonly usage: ReadUsage;
  readonly chargedItems: ReadChargedItems;
  readonly books: AccountBooks;
  readonly reader: TaskReader;
  readonly charges: ChargeReader;
  readonly videoModels: VideoModels;
  readonly changes: TaskChanges;
  readonly links: Links;
  readonly limits: GatewayLimits;
  readonly relay: Relay;
  readonly jobs: Jobs;
  readonly batches: Batches;
  readonly webhooks: Webhooks;
  /** The JSON of an event. */
  readonly eventBody: EventBody;
  readonly principals: Principals;
  readonly counters: RateCounters;
  /** Verifies the addresses of callbacks. The tasks service derives the same key and signs them. */
  readonly callbackKeys: readonly Secret[];
  /** Sign the prices that users of agents confirm; the first one signs. */
  readonly confirmationKeys: readonly Secret[];
  /** Aborted when the gateway stops; then waiting reads are answered at once. */
  readonly stopping: AbortSignal;
  /** The catalogue of the last reload. */
  readonly catalogue: () => Catalogue;
}

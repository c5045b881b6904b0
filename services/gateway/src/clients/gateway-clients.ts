import type { Client } from '@reelgate/platform/rpc/service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';
import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { SessionService } from '@reelgate/proto/billing/v1/session_service';
import type { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import type { JobService } from '@reelgate/proto/tasks/v1/job_service';
import type { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import type { BillingClient } from './billing-client.ts';
import type { BillingCalls } from './calls-client.ts';
import type { FilesRpc } from './client-files.ts';
import type { MediaPort } from './media-port.ts';
import type { TasksClient } from './tasks-client.ts';
import type { RunningConfiguration } from '../domain/running-configuration.ts';
import type { Pool } from 'undici';

/** The services that the gateway calls. */
export interface GatewayClients {
  readonly tasks: TasksClient;
  readonly jobs: Client<typeof JobService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly billing: BillingClient;
  readonly accounts: Client<typeof AccountService>;
  readonly calls: BillingCalls;
  readonly usage: Client<typeof UsageService>;
  readonly sessions: Client<typeof SessionService>;
  readonly media: MediaPort;
  readonly files: FilesRpc;
  readonly batches: Client<typeof BatchService>;
  readonly sender: SenderClient;
  /** Under the identity of the gateway. */
  readonly pauses: Client<typeof OperatorService>;
  readonly operator: OperatorClients;
  /** Opens the connections to an upstream of relayed calls, by default over the network. */
  readonly openRelayPool?: OpenRelayPool;
}

/** Posts to the URLs of clients. */
export type SenderClient = Pick<Client<typeof MediaService>, 'sendWebhook'>;

/** The services for the operator console, under the identity `operator` of the program. */
export interface OperatorClients {
  readonly tasks: Client<typeof OperatorService>;
  readonly queue: Client<typeof QueueService>;
  readonly accounts: Client<typeof AccountService>;
  readonly billing: Client<typeof BillingService>;
  readonly usage: Client<typeof UsageService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly reach: ReachPeers;
  readonly configuration: ReadConfiguration;
}

/** Reports for each service, by name, whether this process reaches it. */
export type ReachPeers = () => Promise<readonly { readonly name: string; readonly isReachable: boolean }[]>;

/** Reads the configuration that this process runs with, without secrets. */
export type ReadConfiguration = () => RunningConfiguration & {
  /** The reason for refusing the newest files, undefined if they are in use. */
  readonly refused: string | undefined;
};

/** Connections to the upstream of a channel. */
export type RelayPool = Pick<Pool, 'dispatch' | 'request'> & { close(): Promise<void>; destroy(): Promise<void> };

/** The time-outs of a channel. */
interface PoolTimeouts {
  /** From the request's last byte to the head of the answer. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of an answer. */
  readonly idleTimeoutMs: number;
}

/** Opens connections to an origin, with the time-outs of a channel. */
export type OpenRelayPool = (origin: string, timeouts: PoolTimeouts) => RelayPool;

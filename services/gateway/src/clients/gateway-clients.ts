import type { Client } from '@reelgate/platform/rpc/service';
import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import type { SessionService } from '@reelgate/proto/billing/v1/session_service';
import type { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { JobService } from '@reelgate/proto/tasks/v1/job_service';
import type { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import type { BillingClient } from './billing-client.ts';
import type { BillingCalls } from './calls-client.ts';
import type { PausesClient } from './channel-pauses-client.ts';
import type { MediaPort } from './media-port.ts';
import type { OperatorClients } from './operator-clients.ts';
import type { TasksClient } from './tasks-client.ts';
import type { SenderClient } from './webhook-sender.ts';

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
  readonly sender: SenderClient;
  /** Under the identity of the gateway. */
  readonly pauses: PausesClient;
  readonly operator: OperatorClients;
}

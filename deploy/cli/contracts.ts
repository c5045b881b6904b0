import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { OperatorService as MediaOperatorService } from '@reelgate/proto/media/v1/operator_service';
import { BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';

/** The contracts that the command line calls, by the name that the commands use. */
export const CONTRACTS = {
  tasks: OperatorService,
  media: MediaOperatorService,
  billing: BillingService,
  accounts: AccountService,
  usage: UsageService,
  webhooks: WebhookService,
  queue: QueueService,
  batches: BatchService,
};

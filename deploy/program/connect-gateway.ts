import type { DescService } from '@bufbuild/protobuf';
import type { GatewayClients } from '@reelgate/gateway/app';
import type { Client } from '@reelgate/platform/rpc/service';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { SessionService } from '@reelgate/proto/billing/v1/session_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { FileService } from '@reelgate/proto/media/v1/file_service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';

/** Connects one part of the program with an RPC service of another. */
export type Connect = <S extends DescService>(service: S) => Client<S>;

/** Connects the gateway with the services that it calls for its clients. */
export function connectGateway(
  tasks: Connect,
  billing: Connect,
  media: Connect,
): Omit<GatewayClients, 'media' | 'operator'> {
  return {
    tasks: tasks(TaskService),
    jobs: tasks(JobService),
    webhooks: tasks(WebhookService),
    billing: billing(BillingService),
    accounts: billing(AccountService),
    calls: billing(CallService),
    usage: billing(UsageService),
    sessions: billing(SessionService),
    files: media(FileService),
    batches: tasks(BatchService),
    sender: media(MediaService),
    pauses: tasks(OperatorService),
  };
}

/** Connects the gateway with the services that it calls for operators, in the name of the operator. */
export function connectOperator(
  tasks: Connect,
  billing: Connect,
): Omit<GatewayClients['operator'], 'reach' | 'configuration'> {
  return {
    tasks: tasks(OperatorService),
    queue: tasks(QueueService),
    accounts: billing(AccountService),
    billing: billing(BillingService),
    usage: billing(UsageService),
    webhooks: tasks(WebhookService),
  };
}

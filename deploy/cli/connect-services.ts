import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { OperatorService as MediaOperatorService } from '@reelgate/proto/media/v1/operator_service';
import { BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { systemClock } from '@reelgate/platform/clock';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import type { Client } from '@reelgate/platform/rpc/service';
import { readProgramConfig } from '../program/config/program-config.ts';
import type { CalledService } from '../program/config/program-config.ts';
import type { Environment } from './environment.ts';
import { callsTls } from '../program/config/used-tls.ts';
import { callKey } from '../program/keys/identities.ts';
import { readAcceptedKeys } from '../program/keys/service-key.ts';

/** The services that know the open holds and their tasks. */
export interface BookServices {
  readonly tasks: Client<typeof OperatorService>;
  readonly accounts: Client<typeof AccountService>;
}

/** The services that the command line talks to, over gRPC. */
export interface Services extends BookServices {
  readonly media: Client<typeof MediaOperatorService>;
  readonly billing: Client<typeof BillingService>;
  readonly usage: Client<typeof UsageService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly queue: Client<typeof QueueService>;
  readonly batches: Client<typeof BatchService>;
  close(): void;
}

/** Connects at the first use, so that a command checks its arguments before it needs a configuration. */
export function lazyServices(environment: Environment): Services {
  let connected: Services | undefined;
  const services = (): Services => (connected ??= connectServices(environment));
  return {
    get tasks() {
      return services().tasks;
    },
    get media() {
      return services().media;
    },
    get billing() {
      return services().billing;
    },
    get accounts() {
      return services().accounts;
    },
    get usage() {
      return services().usage;
    },
    get webhooks() {
      return services().webhooks;
    },
    get queue() {
      return services().queue;
    },
    get batches() {
      return services().batches;
    },
    close: () => connected?.close(),
  };
}

/** Connects to the services. The configuration of the program has their addresses, and their key or its location. */
function connectServices(environment: Environment): Services {
  const config = readProgramConfig(environment);
  const [signingKey] = readAcceptedKeys(config).signatures;
  const tls = callsTls(config, systemClock.now());
  const connect = (name: CalledService): GrpcConnection =>
    connectGrpc(config.services[name], callKey('operator', name, signingKey), tls, config.grpc.calls);
  const [tasks, billing, media] = [connect('tasks'), connect('billing'), connect('media')];
  return {
    tasks: tasks.client(OperatorService),
    media: media.client(MediaOperatorService),
    billing: billing.client(BillingService),
    accounts: billing.client(AccountService),
    usage: billing.client(UsageService),
    webhooks: tasks.client(WebhookService),
    queue: tasks.client(QueueService),
    batches: tasks.client(BatchService),
    close: () => {
      tasks.close();
      billing.close();
      media.close();
    },
  };
}

import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { OperatorService as MediaOperatorService } from '@reelgate/proto/media/v1/operator_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { connectGrpc } from '@reelgate/platform/rpc/grpc-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { readProgramConfig } from '../program/config.ts';
import { keyOf } from '../program/identities.ts';
import { signingKeyIn } from '../program/signing-key.ts';

/** The services that the command line talks to, over gRPC. */
export interface Services {
  readonly tasks: Client<typeof OperatorService>;
  readonly media: Client<typeof MediaOperatorService>;
  readonly billing: Client<typeof BillingService>;
  readonly accounts: Client<typeof AccountService>;
  readonly usage: Client<typeof UsageService>;
  close(): void;
}

/** The same configuration as the program's says where they are and holds, or leads to, the key. */
export function connectServices(environment: Readonly<Record<string, string | undefined>>): Services {
  const config = readProgramConfig(environment);
  const key = keyOf('operator', signingKeyIn(config.dataDir, config.signingKey));
  const tasks = connectGrpc(config.services.tasks, key);
  const billing = connectGrpc(config.services.billing, key);
  const media = connectGrpc(config.services.media, key);
  return {
    tasks: tasks.client(OperatorService),
    media: media.client(MediaOperatorService),
    billing: billing.client(BillingService),
    accounts: billing.client(AccountService),
    usage: billing.client(UsageService),
    close: () => {
      tasks.close();
      billing.close();
      media.close();
    },
  };
}

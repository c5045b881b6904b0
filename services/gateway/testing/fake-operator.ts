import type { DescService } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client, Implementation } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import type { OperatorClients } from '../src/clients/gateway-clients.ts';

/** The methods of a test. Every other method answers an empty message. */
export interface OperatorMethods {
  readonly tasks?: Partial<Implementation<typeof OperatorService>>;
  readonly queue?: Partial<Implementation<typeof QueueService>>;
  readonly accounts?: Partial<Implementation<typeof AccountService>>;
  readonly billing?: Partial<Implementation<typeof BillingService>>;
  readonly usage?: Partial<Implementation<typeof UsageService>>;
  readonly webhooks?: Partial<Implementation<typeof WebhookService>>;
}

/** Every read of figures has the clock of the service. */
const CLOCKS: OperatorMethods['tasks'] = {
  getActivity: async () => ({ now: timestampFromMs(0) }),
  getFaults: async () => ({ now: timestampFromMs(0) }),
};

/** The services as the operator console calls them. */
export function fakeOperator({
  tasks,
  queue,
  accounts,
  billing,
  usage,
  webhooks,
}: OperatorMethods = {}): OperatorClients {
  return {
    tasks: clientOf(OperatorService, { ...CLOCKS, ...tasks }),
    queue: clientOf(QueueService, queue),
    accounts: clientOf(AccountService, accounts),
    billing: clientOf(BillingService, billing),
    usage: clientOf(UsageService, usage),
    webhooks: clientOf(WebhookService, webhooks),
    configuration: () => ({
      effective: { signing_key: '***' },
      files: ['/etc/reelgate.yaml'],
      differences: [],
      appliedAt: 0,
      refused: undefined,
      warnings: [],
      version: '1.0.0',
    }),
    reach: async () => ['tasks', 'billing', 'media'].map((name) => ({ name, isReachable: true })),
  };
}

function clientOf<S extends DescService>(service: S, methods: Partial<Implementation<S>> | undefined): Client<S> {
  return directClient(service, partialService(service, methods), aCaller({ name: 'operator' }));
}

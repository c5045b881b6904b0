import type { Client } from '@reelgate/platform/rpc/service';
import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import type { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import type { ConfigurationView } from '../../console/api/operator-configuration.ts';
import type { BillingClient } from './billing-client.ts';

/** The services for the operator console, under the identity `operator` of the program. */
export interface OperatorClients {
  readonly tasks: Client<typeof OperatorService>;
  readonly accounts: Client<typeof AccountService>;
  readonly billing: BillingClient;
  readonly usage: Client<typeof UsageService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly reach: ReachPeers;
  readonly configuration: ReadConfiguration;
}

/** Reports for each service, by name, whether this process reaches it. */
export type ReachPeers = () => Promise<readonly { readonly name: string; readonly isReachable: boolean }[]>;

/** Reads the configuration that this process runs with, without secrets. */
export type ReadConfiguration = () => Omit<ConfigurationView, 'refused'> & {
  /** The reason for refusing the newest files; undefined if they are in use. */
  readonly refused: string | undefined;
};

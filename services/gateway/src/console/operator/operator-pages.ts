import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { accountsClient } from '../../clients/accounts-client.ts';
import { actsReader } from '../../clients/acts-client.ts';
import { attentionQueue } from '../../clients/attention-client.ts';
import { taskChannels } from '../../clients/channels-client.ts';
import { jobRecordsClient } from '../../clients/job-records-client.ts';
import { ledgerClient } from '../../clients/ledger-client.ts';
import { accountBooks } from '../../clients/money-client.ts';
import type { OperatorClients } from '../../clients/operator-clients.ts';
import { pulseReader } from '../../clients/pulse-client.ts';
import type { TaskPages } from '../../clients/task-pages-client.ts';
import { taskRecordsClient } from '../../clients/task-records-client.ts';
import { changeTokenLimits } from '../../clients/token-limits-client.ts';
import { tokensClient } from '../../clients/tokens-client.ts';
import { billingUsage } from '../../clients/usage-client.ts';
import { webhooksClient } from '../../clients/webhooks-client.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { accountTokensRoutes } from './account-tokens-routes.ts';
import { accountsRoutes } from './accounts-routes.ts';
import { actsRoutes } from './acts-routes.ts';
import { attentionRoutes } from './attention-routes.ts';
import { channelsRoutes } from './channels-routes.ts';
import { configurationRoute } from './configuration-route.ts';
import { jobsRoutes } from './jobs-routes.ts';
import { moneyRoutes } from './money-routes.ts';
import { nowRoute } from './now-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { operatorTaskRoute } from './task-route.ts';
import { operatorTasksRoute } from './tasks-route.ts';

/** The parts of the routes of the operators' pages. */
export interface OperatorPagesParts {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly budget: BodyBudget;
  readonly clients: OperatorClients;
  /** The channels that this gateway calls itself. */
  readonly relay: RelayChannels;
  readonly pauses: ChannelPauses;
  /** The view of a task's life that its owner may see. */
  readonly taskPages: TaskPages;
}

/** The routes with which the pages of operators read and act. */
export function operatorPages(parts: OperatorPagesParts): OperatorRouteEntry[] {
  const { clients } = parts;
  const [acts, pulse, channels] = [actsReader(clients), pulseReader(clients), taskChannels(clients)];
  const tokens = tokensClient(clients.accounts);
  const [records, books, webhooks] = [
    taskRecordsClient(clients),
    accountBooks(clients, 'every'),
    webhooksClient(clients.webhooks),
  ];
  return [
    nowRoute({ ...parts, acts, pulse, channels, reach: clients.reach }),
    ...attentionRoutes({ ...parts, acts, attention: attentionQueue(clients) }),
    ...channelsRoutes({ ...parts, acts, pulse, channels }),
    operatorTasksRoute({ ...parts, records, books }),
    operatorTaskRoute({ ...parts, records, books, tokens, webhooks, acts }),
    ...moneyRoutes({ ...parts, ledger: ledgerClient(clients) }),
    ...accountsRoutes({ ...parts, tokens, accounts: accountsClient(clients), usage: billingUsage(clients.usage) }),
    ...accountTokensRoutes({ ...parts, tokens, changeLimits: changeTokenLimits(clients) }),
    ...jobsRoutes({ ...parts, acts, jobs: jobRecordsClient(clients) }),
    configurationRoute(clients.configuration),
    ...actsRoutes({ acts }),
  ];
}

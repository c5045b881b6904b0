import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { ConfigurationView } from '../../../console/api/operator-configuration.ts';
import { accountBooks } from '../../clients/money-client.ts';
import type { OperatorClients, ReadConfiguration } from '../../clients/gateway-clients.ts';
import type { TaskPages } from '../../clients/task-pages-client.ts';
import { tokensClient } from '../../clients/tokens-client.ts';
import { webhooksClient } from '../../clients/webhooks-client.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { callsRoute } from './calls-route.ts';
import { searchRoute } from './search-route.ts';
import { marginsFileRoute } from './margins-file-route.ts';
import { nowRoute } from './now-route.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { applyPauses, relayChannelsRoutes } from './relay-channels-routes.ts';
import { operatorTaskRoute } from './task-route.ts';

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
  const tokens = tokensClient(clients.accounts);
  const [books, webhooks] = [accountBooks(clients, 'every'), webhooksClient(clients.webhooks)];
  return [
    callsRoute({ ...parts, clients: { ...clients, tasks: applyPauses(clients.tasks, parts.pauses) } }),
    nowRoute(parts),
    ...relayChannelsRoutes(parts),
    searchRoute(parts),
    operatorTaskRoute({ ...parts, books, tokens, webhooks }),
    marginsFileRoute(parts),
    configurationRoute(clients.configuration),
  ];
}

/** The route for the configuration with which the process of this gateway runs. */
function configurationRoute(read: ReadConfiguration): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/configuration',
    name: 'getConfiguration',
    role: 'viewer',
    answer: (): ConfigurationView => {
      const { refused, ...view } = read();
      return { ...view, ...(refused === undefined ? {} : { refused }) };
    },
  });
}

import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { accountsClient } from '../../clients/accounts-client.ts';
import { actsOfServices } from '../../clients/acts-client.ts';
import { jobRecordsClient } from '../../clients/job-records-client.ts';
import { ledgerClient } from '../../clients/ledger-client.ts';
import type { OperatorClients } from '../../clients/operator-clients.ts';
import { changeTokenLimits } from '../../clients/token-limits-client.ts';
import { tokensClient } from '../../clients/tokens-client.ts';
import { billingUsage } from '../../clients/usage-client.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { accountTokensRoutes } from './account-tokens-routes.ts';
import { accountsRoutes } from './accounts-routes.ts';
import { actsRoutes } from './acts-routes.ts';
import { jobsRoutes } from './jobs-routes.ts';
import { moneyRoutes } from './money-routes.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

/** What the routes of the operators' pages are made of. */
export interface OperatorPagesParts {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly budget: BodyBudget;
  readonly clients: OperatorClients;
}

/** What the pages of operators read and do. */
export function operatorPages(parts: OperatorPagesParts): OperatorRouteEntry[] {
  const { clients } = parts;
  const acts = actsOfServices(clients);
  const tokens = tokensClient(clients.accounts);
  return [
    ...moneyRoutes({ ...parts, ledger: ledgerClient(clients) }),
    ...accountsRoutes({ ...parts, tokens, accounts: accountsClient(clients), usage: billingUsage(clients.usage) }),
    ...accountTokensRoutes({ ...parts, tokens, changeLimits: changeTokenLimits(clients) }),
    ...jobsRoutes({ jobs: jobRecordsClient(clients) }),
    ...actsRoutes({ acts }),
  ];
}

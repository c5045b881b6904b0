import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { actsOfServices } from '../../clients/acts-client.ts';
import type { OperatorClients } from '../../clients/operator-clients.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { actsRoutes } from './acts-routes.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

/** What the routes of the operators' pages are made of. */
export interface OperatorPagesParts {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly budget: BodyBudget;
  readonly clients: OperatorClients;
}

/** What the pages of operators read and do. */
export function operatorPages({ clients }: OperatorPagesParts): OperatorRouteEntry[] {
  const acts = actsOfServices(clients);
  return [...actsRoutes({ acts })];
}

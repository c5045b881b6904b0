import type { ConfigurationView } from '../../../console/api/operator-configuration.ts';
import type { ReadConfiguration } from '../../clients/operator-clients.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

/** The route for the configuration with which the process of this gateway runs. */
export function configurationRoute(read: ReadConfiguration): OperatorRouteEntry {
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

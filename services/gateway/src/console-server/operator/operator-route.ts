import type { Exchange } from '../../http/http-exchange.ts';
import type { Method, RouteEntry } from '../../http/routes/route.ts';
import { consoleDoc } from '../console-route.ts';
import type { Role } from '../../domain/operator-role.ts';

/** A route of the operator console with the role that it needs. A route without a role is open. */
export interface OperatorRouteEntry extends RouteEntry {
  readonly role?: Role;
}

export interface OperatorRoute {
  readonly method: Method;
  /** Below `/console/api`. */
  readonly path: `/${string}`;
  readonly name: string;
  readonly role: Role;
  /** The view, or the text of a file whose type it has set. */
  readonly answer: (exchange: Exchange) => Promise<object | string> | object | string;
}

/** A route that answers the pages of the operator console. */
export function operatorRoute({ method, path, name, role, answer }: OperatorRoute): OperatorRouteEntry {
  return {
    kind: 'console',
    methods: [method],
    path: `/console/api${path}`,
    role,
    handle: async (exchange) => {
      exchange.body = await answer(exchange);
    },
    doc: consoleDoc(name, name),
  };
}

import type { Count, Method, RouteEntry } from '../http/routes/route.ts';
import type { Exchange } from '../http/exchange.ts';
import { consoleDoc } from './console-doc.ts';

export interface ConsoleRoute {
  readonly method: Method;
  /** Below `/console/api`. */
  readonly path: `/${string}`;
  readonly name: string;
  /** The rate limit that it counts against; by default that of the console. */
  readonly counts?: Count;
  readonly answer: (exchange: Exchange) => Promise<object> | object;
}

/** A route that answers the pages of the client console, for the token that is signed in. */
export function consoleRoute({ method, path, name, counts = 'console', answer }: ConsoleRoute): RouteEntry {
  return {
    kind: 'console',
    methods: [method],
    path: `/console/api${path}`,
    token: { counts, from: 'session' },
    handle: async (exchange) => {
      exchange.body = await answer(exchange);
    },
    doc: consoleDoc(name, name),
  };
}

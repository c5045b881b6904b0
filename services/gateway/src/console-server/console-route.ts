import type { BodyBudget } from '../http/bodies/body-budget.ts';
import { readExchangeBody } from '../http/bodies/read-body.ts';
import type { Exchange } from '../http/http-exchange.ts';
import type { Count, Method, RouteDoc, RouteEntry } from '../http/routes/route.ts';

/** No form of the console is larger. */
const BODY_BYTES_MAX = 64 * 1024;

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

/** The routes of the console serve its pages alone, so the OpenAPI document leaves them out. */
export function consoleDoc(operationId: string, summary: string): RouteDoc {
  return { tag: 'Console', operationId, summary, answers: {} };
}

/** Reads the small JSON body of a request of the console. */
export async function readJsonBody(exchange: Exchange, { budget }: { readonly budget: BodyBudget }): Promise<unknown> {
  const read = await readExchangeBody(exchange, { budget, limits: { bodyBytes: BODY_BYTES_MAX } }, false);
  return 'json' in read ? read.json : undefined;
}

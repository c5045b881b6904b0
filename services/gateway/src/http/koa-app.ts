import Koa from 'koa';
import Router from '@koa/router';
import { METHODS } from 'node:http';
import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { admit } from './admit.ts';
import type { AdmitDeps } from './admit.ts';
import { answerProblem, toProblem } from './answer-problem.ts';
import { putHead } from './exchange.ts';
import type { Exchange, ExchangeState } from './exchange.ts';
import { ClientGone } from './receive-body.ts';
import { requestIdOf } from './request-id.ts';
import { waitsForLeave } from './request-body.ts';
import { routerPath } from './route.ts';
import type { RouteEntry } from './route.ts';
import { settleUnread } from './unread-body.ts';

export interface KoaAppOptions {
  readonly routes: readonly RouteEntry[];
  readonly admission: AdmitDeps;
  readonly observe: (exchange: Exchange) => void;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

const NO_PARAMS = {};
/** Something to be done with a model, in Google's spelling: one that nobody knows is no other spelling of the model's own path. */
const VERB = /^\/v1(beta)?\/models\/[^/]+:\w+$/;

type Next = () => Promise<unknown>;

/** Every request goes down this list: named and observed, refused in its own envelope, routed, and at the end unknown. */
export function koaApp(options: KoaAppOptions): Koa<ExchangeState> {
  const app = new Koa<ExchangeState>();
  const router = routerOf(options);
  const byRouter = router.routes() as unknown as (exchange: Exchange, next: Next) => Promise<void>;
  const fixed = fixedRoutes(options);
  const run = (exchange: Exchange): Promise<void> => {
    const entry = fixed.get(exchange.path)?.get(exchange.method);
    if (entry !== undefined) {
      (exchange as { params: Exchange['params'] }).params = NO_PARAMS;
      return take(exchange, entry, options.admission);
    }
    return byRouter(exchange, async () => {
      refuseUnrouted(exchange, router);
    });
  };
  app.use(async (context) => {
    const exchange = context as unknown as Exchange;
    begin(exchange, options);
    try {
      await run(exchange);
    } catch (thrown) {
      refuse(exchange, thrown, options.log);
    }
    settleUnread(exchange, options.clock, waitsForLeave(exchange.req));
  });
  app.on('error', (error: unknown) => {
    options.log.warn({ err: error }, 'an answer was not sent');
  });
  return app;
}

function routerOf({ routes, admission }: KoaAppOptions): Router {
  const router = new Router({ sensitive: true });
  for (const entry of routes) {
    const methods = entry.methods === 'all' ? METHODS.filter((method) => method !== 'CONNECT') : [...entry.methods];
    router.register(routerPath(entry.path), methods, (context) => take(context, entry, admission));
  }
  return router;
}

/** Paths in which nothing varies are looked up, which costs nothing however many routes there are. */
function fixedRoutes({ routes }: KoaAppOptions): ReadonlyMap<string, ReadonlyMap<string, RouteEntry>> {
  const fixed = new Map<string, Map<string, RouteEntry>>();
  for (const entry of routes) {
    if (entry.methods === 'all' || entry.path.includes('{')) continue;
    const byMethod = fixed.get(entry.path) ?? new Map<string, RouteEntry>();
    fixed.set(entry.path, byMethod);
    // the first one that matches takes a request, as in the router
    for (const method of entry.methods) if (!byMethod.has(method)) byMethod.set(method, entry);
  }
  return fixed;
}

async function take(exchange: Exchange, entry: RouteEntry, admission: AdmitDeps): Promise<void> {
  exchange.state.route = entry.path;
  await admit(admission, exchange, entry);
  if (entry.writesHead !== true) putHead(exchange);
  await entry.handle(exchange);
}

function begin(exchange: Exchange, { newId, observe }: KoaAppOptions): void {
  const gone = new AbortController();
  exchange.res.once('close', () => {
    if (!exchange.res.writableFinished) gone.abort();
  });
  const requestId = requestIdOf(exchange.req.headers['x-request-id'], newId);
  const head = ['x-request-id', requestId, 'x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
  if (exchange.path.startsWith('/v1/messages')) head.push('request-id', requestId);
  exchange.state = { requestId, head, gone: gone.signal };
  observe(exchange);
}

function refuse(exchange: Exchange, thrown: unknown, log: Log): void {
  if (thrown instanceof ClientGone || exchange.res.headersSent) {
    exchange.respond = false;
    exchange.res.destroy();
    return;
  }
  putHead(exchange);
  const problem = toProblem(thrown);
  const fields = { requestId: exchange.state.requestId, route: exchange.state.route, err: thrown };
  if (problem.kind === 'internal') log.error(fields, 'a request failed');
  else if (problem.kind === 'unavailable' && problem.cause !== undefined) log.warn(fields, 'a request could not be served');
  answerProblem(exchange, problem);
}

function refuseUnrouted(exchange: Exchange, router: Router): never {
  const { path: known } = router.match(exchange.path, exchange.method);
  const methods = [...new Set(known.flatMap((layer) => layer.methods))].toSorted();
  const shown = exchange.path.slice(0, 200);
  if (methods.length === 0 || (exchange.method === 'POST' && VERB.test(exchange.path))) throw new Problem({ kind: 'not_found', reason: 'not_found', message: `there is nothing at ${shown}` });
  exchange.set('allow', methods.join(', '));
  throw new Problem({ kind: 'invalid', reason: 'method_not_allowed', message: `${exchange.method} does not go with ${shown}; it takes ${methods.join(', ')}` });
}

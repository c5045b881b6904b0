import Koa from 'koa';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Clock } from '@reelgate/platform/clock';
import type { ReadSource } from '@reelgate/platform/source-address';
import type { NewId } from '@reelgate/platform/ids';
import { inRequest, inTrace } from '@reelgate/platform/request-context';
import type { Log } from '@reelgate/platform/log';
import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Tracing } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { answerProblem, toProblem } from './answer-problem.ts';
import type { Exchange, ExchangeState } from './http-exchange.ts';
import { exchangeEnd } from './http-exchange.ts';
import { newDiscards, settleUnread } from './bodies/discard-body.ts';
import { ClientGone } from './bodies/receive-body.ts';
import { readOrCreateRequestId } from './headers.ts';
import { requestSpans } from './request-span.ts';
import type { BeginRequestSpan } from './request-span.ts';
import { routeTable } from './routes/route-table.ts';
import type { RouteTable } from './routes/route-table.ts';
import type { RouteEntry } from './routes/route.ts';
import { refuse } from '../refusals.ts';
import { invalid } from '../dialects/wire/body-validator.ts';

export interface KoaAppOptions {
  readonly routes: readonly RouteEntry[];
  /** Authenticates the caller of a route and applies the caller's rate limit. */
  readonly admit: (exchange: Exchange, entry: RouteEntry) => MaybePromise<void>;
  readonly observe: (exchange: Exchange) => void;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly tracing: Tracing;
  readonly readSource: ReadSource;
}

const OK = 200;
const NOT_FOUND = 404;
/** The codes of Node for a connection that its client broke, and for requests that its HTTP parser refuses. */
const CLIENT_CODE = /^(?:HPE_\w+|ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/;
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;
/** An action on a model in Google's syntax, such as `/v1/models/x:generateContent`. An unknown action is a 404. */
const MODEL_ACTION = /^\/v1(beta)?\/models\/.+:\w+$/;

/** The steps that every route has in common. */
interface RouteHooks {
  readonly admit: KoaAppOptions['admit'];
  readonly beginSpan: BeginRequestSpan;
}

/** The application: it gives a request an id, observes it, routes it, and answers a refusal in its dialect. */
export function koaApp(options: KoaAppOptions): RequestListener {
  const app = new Koa<ExchangeState>();
  const hooks: RouteHooks = { admit: options.admit, beginSpan: requestSpans(options.tracing) };
  const table = routeTable(options.routes);
  const discard = newDiscards(options.clock);
  const run = (exchange: Exchange): MaybePromise<void> => {
    const { method, path } = exchange;
    const found = table.find(method, path);
    if (found === undefined) refuseUnrouted(exchange, table);
    (exchange as { params: Exchange['params'] }).params = found.params;
    return runRoute(exchange, found.entry, hooks);
  };
  const serve = async (exchange: Exchange): Promise<void> => {
    initExchange(exchange, options);
    try {
      await inRequest(exchange.state.requestId, () => run(exchange));
    } catch (thrown) {
      refuseExchange(exchange, thrown, options.log);
    }
    settleUnread(exchange, options.clock, discard);
    sendAnswer(exchange);
  };
  app.on('error', (error: unknown) => {
    // a request that its client broke is not our fault
    const level = isBrokenByClient(error) ? 'debug' : 'warn';
    options.log[level]({ err: error }, 'a response could not be sent');
  });
  return (request, response) => {
    const exchange = app.createContext<ExchangeState>(request, response) as unknown as Exchange;
    response.statusCode = NOT_FOUND;
    serve(exchange).catch((error: unknown) => exchange.onerror(error as Error));
  };
}

/** Runs the middleware of a context and then sends its answer. Koa's types leave it out. */
type Responder = Koa & { handleRequest(context: Exchange, middleware: () => Promise<void>): Promise<void> };

/**
 * Sends a text at once, and leaves other answers to Koa. Koa sets up listeners and promises per exchange, which costs
 * more than answering a poll from memory.
 */
function sendAnswer(exchange: Exchange): void {
  const { app, res, body } = exchange;
  if (exchange.respond === false) return;
  if (typeof body === 'string' && res.statusCode === OK && exchange.method !== 'HEAD' && exchange.writable) {
    res.end(body);
    return;
  }
  const { statusCode } = res;
  void (app as unknown as Responder).handleRequest(exchange, async () => {
    // Koa begins with 404
    res.statusCode = statusCode;
  });
}

/** Reports whether the client has sent something other than HTTP, or has closed the connection. */
function isBrokenByClient(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CLIENT_CODE.test(code);
}

function runRoute(exchange: Exchange, entry: RouteEntry, { admit, beginSpan }: RouteHooks): MaybePromise<void> {
  exchange.state.route = entry.path;
  exchange.state.kind = entry.kind;
  const span = beginSpan(exchange, entry);
  exchange.state.span = span;
  return inTrace(span.traceId, () =>
    thenMaybe(admit(exchange, entry), () => {
      assertKnownQuery(exchange, entry);
      return entry.handle(exchange);
    }),
  );
}

function initExchange(exchange: Exchange, { newId, observe, readSource }: KoaAppOptions): void {
  const requestId = readOrCreateRequestId(exchange.req.headers['x-request-id'], newId);
  exchange.res.setHeader('x-request-id', requestId);
  exchange.res.setHeader('x-content-type-options', 'nosniff');
  exchange.res.setHeader('cache-control', 'no-store');
  if (exchange.req.headers['anthropic-version'] !== undefined || exchange.path.startsWith('/v1/messages'))
    exchange.res.setHeader('request-id', requestId);
  exchange.state = {
    requestId,
    source: () => readSource(exchange.req),
    span: NO_SPAN,
    end: exchangeEnd(exchange.res),
    expectsContinue: expectsContinue(exchange.req),
  };
  observe(exchange);
}

/** The same test as Node's: with this header Node leaves it to the server to send `100 Continue`. */
function expectsContinue({ headers: { expect }, httpVersion }: IncomingMessage): boolean {
  return expect !== undefined && httpVersion === '1.1' && CONTINUE.test(expect);
}

function refuseExchange(exchange: Exchange, thrown: unknown, log: Log): void {
  if (thrown instanceof ClientGone || exchange.res.headersSent) {
    exchange.respond = false;
    exchange.res.destroy();
    return;
  }
  const problem = toProblem(thrown);
  const fields = { requestId: exchange.state.requestId, route: exchange.state.route, err: thrown };
  if (problem.kind === 'internal') log.error(fields, 'a request failed');
  else if (problem.kind === 'unavailable' && problem.cause !== undefined)
    log.warn(fields, 'a request could not be served');
  answerProblem(exchange, problem);
}

function refuseUnrouted(exchange: Exchange, table: RouteTable): never {
  const methods = table.methodsAt(exchange.path);
  const shown = exchange.path.slice(0, 200);
  if (methods.length === 0 || (MODEL_ACTION.test(exchange.path) && !methods.includes('POST')))
    throw refuse('not_found', { message: `no route at ${shown}` });
  exchange.set('allow', methods.join(', '));
  throw refuse('method_not_allowed', {
    message: `${exchange.method} is not allowed at ${shown}; allowed: ${methods.join(', ')}`,
  });
}

const SHOWN_CHARACTERS_MAX = 64;

/**
 * Refuses a parameter that a route does not read: at a create, whose fields stand in the body, and at a read that has
 * parameters, such as a list or a statement, which would answer another question. A call that is handed on keeps its
 * query, and other reads ignore theirs.
 */
function assertKnownQuery({ querystring }: Exchange, { kind, doc }: RouteEntry): void {
  const known = doc.parameters?.map(({ name }) => name) ?? [];
  const isClosed = kind === 'create' ? doc.handsOnQuery !== true : kind === 'read' && known.length > 0;
  if (!isClosed || querystring === '') return;
  const unknown = [...new URLSearchParams(querystring).keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const right = known.length === 0 ? 'send it as a field of the body' : `known parameters: ${known.join(', ')}`;
  throw invalid(unknown.slice(0, SHOWN_CHARACTERS_MAX), `is an unknown parameter; ${right}`, 'unknown_field');
}

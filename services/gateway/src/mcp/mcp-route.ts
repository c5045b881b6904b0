import type { ServerResponse } from 'node:http';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { markAnswer } from '../domain/schema.ts';
import type { Schema } from '../domain/schema.ts';
import type { McpServing } from './mcp-server.ts';
import type { RequestCall, ToolParts } from './mcp-tool.ts';
import type { TellProgress } from './wait-for-call.ts';
import { assertOwnCaller } from '../http/admission/own-callers.ts';
import type { OwnAddresses } from '../http/admission/own-callers.ts';
import { waitWithAccess } from '../http/admission/watch-access.ts';
import type { WaitAccessParts } from '../http/admission/watch-access.ts';
import { readExchangeBody } from '../http/bodies/read-body.ts';
import type { BodyBounds } from '../http/bodies/read-body.ts';
import type { RateLimits } from '../http/admission/limit-rate.ts';
import { ClientGone } from '../http/bodies/receive-body.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { refuse } from '../refusals.ts';

/** The longest prompt and the most links of a call take a tenth of it. */
const BODY_BYTES_MAX = 1024 * 1024;
/** Not a real address: the server reads the headers alone. */
const ADDRESS = 'http://mcp/';
/** The headers that the protocol reads. */
const HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;
/** Every client has to take both. */
const ACCEPTED = 'application/json, text/event-stream';
const EVENTS_TYPE = 'text/event-stream';
/** Nothing changes that a client could be told of, so such a stream would stay empty. */
const REFUSED_METHOD = 'subscriptions/listen';
/** The status of the package for an answer to a client that has left. */
const CLIENT_GONE = 499;

const version = { const: '2.0' };
const requestSchema: Schema = {
  title: 'McpRequest',
  type: 'object',
  required: ['jsonrpc', 'method'],
  description: 'A message of the Model Context Protocol, in its revision 2026-07-28 or 2025-11-25.',
  properties: { jsonrpc: version, id: { type: ['string', 'integer'] }, method: { type: 'string' } },
};
const answerSchema: Schema = {
  title: 'McpAnswer',
  type: 'object',
  required: ['jsonrpc', 'id'],
  properties: { jsonrpc: version, id: { type: ['string', 'integer'] } },
};

/** The parts that the route needs. The tools need further parts. */
export interface McpRouteParts extends ToolParts, BodyBounds, WaitAccessParts {
  readonly limits: RateLimits & BodyBounds['limits'];
}

export interface McpRouteDeps {
  readonly parts: McpRouteParts;
  readonly addresses: OwnAddresses;
  readonly metrics: Metrics;
}

/**
 * The tools of this service for agents, by the Model Context Protocol. The route does not keep state between two
 * requests.
 */
export function mcpRoute({ parts, addresses, metrics }: McpRouteDeps): RouteEntry {
  const load = loadServer(parts, metrics);
  return {
    kind: 'stream',
    methods: ['POST'],
    path: '/mcp',
    token: { counts: 'reads' },
    handle: async (exchange) => {
      assertOwnCaller(addresses, exchange.req);
      const given = readMessage(await readExchangeBody(exchange, withBodyMax(parts), false));
      const server = await load();
      const tell = eventTeller(exchange);
      await waitWithAccess(parts, exchange, (gone) =>
        server.wait(exchange.req.headers, given, toCall(exchange, gone), tell),
      );
      if (exchange.state.end.gone().aborted) throw new ClientGone();
      const call = toCall(exchange, AbortSignal.any([exchange.state.end.gone(), parts.stopping]));
      await sendResponse(exchange, await server.answer(toRequest(exchange), given, call));
    },
    doc: {
      tag: 'Agents',
      operationId: 'postMcp',
      summary: 'Call the tools of this service by the Model Context Protocol',
      description:
        'Answers with JSON, or with server-sent events if progress comes first. Each message counts as a read, and ' +
        '`video_create` as a create too. A refusal of a tool is a result with `isError`.',
      json: requestSchema,
      answers: { 'application/json': markAnswer(answerSchema), 'text/event-stream': { type: 'string' } },
      also: { 202: { description: 'A notification was taken.' } },
      refuses: [404],
    },
  };
}

/** The package takes 0.1 s to load and 35 MB, so it loads when the first client comes. A load that failed is repeated. */
function loadServer(parts: ToolParts, metrics: Metrics): () => Promise<McpServing> {
  let loading: Promise<McpServing> | undefined;
  const load = async (): Promise<McpServing> => {
    const [sdk, { openMcpServer }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('./mcp-server.ts'),
    ]);
    return openMcpServer(sdk, parts, metrics);
  };
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

function withBodyMax({ limits, budget }: BodyBounds): BodyBounds {
  return { budget, limits: { bodyBytes: Math.min(limits.bodyBytes, BODY_BYTES_MAX) } };
}

/** Refuses a list of messages, because each message counts against the limit of its token. */
function readMessage(body: Awaited<ReturnType<typeof readExchangeBody>>): object {
  const given = 'json' in body ? body.json : undefined;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw refuse('invalid_request', { message: 'the body must be one JSON-RPC message' });
  if ((given as { readonly method?: unknown }).method === REFUSED_METHOD)
    throw refuse('not_found', { message: `there is no method ${REFUSED_METHOD}` });
  return given;
}

function toRequest({ req, state }: Exchange): Request {
  const headers = HEADERS.flatMap((name): [string, string][] => {
    const value = req.headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return new Request(ADDRESS, {
    method: 'POST',
    headers: [...headers, ['accept', ACCEPTED]],
    signal: state.end.gone(),
  });
}

function toCall(exchange: Exchange, gone: AbortSignal): RequestCall {
  const { state } = exchange;
  return {
    principal: requirePrincipal(exchange),
    requestId: state.requestId,
    span: state.span,
    gone,
    noteTask: (taskId) => {
      state.taskId = taskId;
    },
    noteSubmit: () => {
      state.submitted = true;
    },
    noteTool: (name) => {
      state.tool = name;
    },
  };
}

/** The first event begins the answer, unless the client does not take events. */
function eventTeller({ req, res }: Exchange): TellProgress {
  const takesEvents = req.headers.accept?.includes(EVENTS_TYPE) === true;
  return (notification) => {
    if (!takesEvents || res.destroyed) return;
    if (!res.headersSent) beginEvents(res);
    res.write(formatEvent(JSON.stringify(notification)));
  };
}

function beginEvents(res: ServerResponse, status = 200): void {
  res.writeHead(status, { 'content-type': EVENTS_TYPE, 'x-accel-buffering': 'no' });
}

/** JSON has no line break of its own. */
function formatEvent(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

/** After events the answer is the last of them. */
async function sendResponse(exchange: Exchange, response: Response): Promise<void> {
  const { res } = exchange;
  if (response.status === CLIENT_GONE) throw new ClientGone();
  const type = response.headers.get('content-type');
  if (type?.startsWith(EVENTS_TYPE) === true) {
    exchange.respond = false;
    if (!res.headersSent) beginEvents(res, response.status);
    await passOn(response, exchange);
  } else if (res.headersSent) {
    exchange.respond = false;
    res.end(formatEvent(await response.text()));
  } else {
    exchange.body = response.body === null ? null : await response.text();
    exchange.status = response.status;
    if (type !== null) exchange.type = type;
  }
}

/**
 * Writes events as they come. One call has few and small ones, so a client that reads slowly needs no bound of its own.
 * A client that leaves ends the call.
 */
async function passOn({ body }: Response, { res, state }: Exchange): Promise<void> {
  const reader = body?.getReader();
  state.end.whenOver(() => void reader?.cancel().catch(() => undefined));
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) res.write(next.value);
  res.end();
}

import { AnswerClosed, writeThrough } from '@reelgate/platform/http/write-response';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { Problem } from '@reelgate/platform/problem';
import type { Schema } from '../../dialects/dialect.ts';
import type { AnswerMessage, RequestCall } from '../../mcp/mcp-server.ts';
import type { ToolParts } from '../../mcp/mcp-tool.ts';
import { assertOwnCaller } from '../admission/own-callers.ts';
import type { OwnAddresses } from '../admission/own-callers.ts';
import { readExchangeBody } from '../bodies/read-body.ts';
import { ClientGone } from '../bodies/receive-body.ts';
import type { Exchange } from '../http-exchange.ts';
import { requirePrincipal } from '../http-exchange.ts';
import type { RouteEntry } from './route.ts';

/** The longest prompt and the most links of a call take a tenth of it. */
const BODY_BYTES_MAX = 1024 * 1024;
/** Not a real address: the server reads the headers alone. */
const ADDRESS = 'http://mcp/';
/** The headers that the protocol reads. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;
const JSON_TYPE = 'application/json';
/** Nothing changes that a client could be told of, so such a stream would stay empty. */
const REFUSED_METHOD = 'subscriptions/listen';
/** The status that the package gives an answer whose client has left. */
const CLIENT_GONE = 499;

const message: Schema = {
  title: 'McpMessage',
  type: 'object',
  required: ['jsonrpc'],
  description: 'A message of the Model Context Protocol, in its revision 2026-07-28 or 2025-11-25.',
  properties: { jsonrpc: { const: '2.0' }, id: { type: ['string', 'integer', 'null'] }, method: { type: 'string' } },
};

export interface McpRouteDeps {
  readonly parts: ToolParts;
  readonly addresses: OwnAddresses;
  readonly metrics: Metrics;
}

/** The tools of this service for agents, by the Model Context Protocol. The route keeps nothing between two requests. */
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
      const answer = await load();
      const request = toRequest(exchange);
      await sendResponse(parts, exchange, await answer(request, given, toCall(parts, exchange)));
    },
    doc: {
      tag: 'Agents',
      operationId: 'postMcp',
      summary: 'Call the tools of this service by the Model Context Protocol',
      description:
        'Answers with JSON, or with server-sent events if progress comes first. Each message counts as a read, and ' +
        '`video_create` as a create too. A refusal of a tool is a result with `isError`.',
      json: message,
      answers: { 'application/json': message, 'text/event-stream': { type: 'string' } },
      refuses: [404],
    },
  };
}

/** The package takes 0.1 s to load and 35 MB, so it loads when the first client comes. A load that failed is repeated. */
function loadServer(parts: ToolParts, metrics: Metrics): () => Promise<AnswerMessage> {
  let loading: Promise<AnswerMessage> | undefined;
  const load = async (): Promise<AnswerMessage> => {
    const [sdk, { openMcpServer }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('../../mcp/mcp-server.ts'),
    ]);
    return openMcpServer(sdk, parts, metrics);
  };
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

function withBodyMax({ limits, budget }: ToolParts): Parameters<typeof readExchangeBody>[1] {
  return { budget, limits: { bodyBytes: Math.min(limits.bodyBytes, BODY_BYTES_MAX) } };
}

/** Refuses a list of messages, because each message counts against the limit of its token. */
function readMessage(body: Awaited<ReturnType<typeof readExchangeBody>>): unknown {
  const given = 'json' in body ? body.json : undefined;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Problem({ kind: 'invalid', reason: 'invalid_request', message: 'the body must be one JSON-RPC message' });
  if ((given as { readonly method?: unknown }).method === REFUSED_METHOD)
    throw new Problem({ kind: 'not_found', reason: 'not_found', message: `there is no method ${REFUSED_METHOD}` });
  return given;
}

/** The signal ends the work of a client that leaves before the head of its answer. */
function toRequest({ req, state }: Exchange): Request {
  const headers = HEADERS.flatMap((name): [string, string][] => {
    const value = req.headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return new Request(ADDRESS, { method: 'POST', headers, signal: state.end.gone() });
}

function toCall({ stopping }: ToolParts, exchange: Exchange): RequestCall {
  const { state } = exchange;
  return {
    principal: requirePrincipal(exchange),
    requestId: state.requestId,
    span: state.span,
    gone: AbortSignal.any([state.end.gone(), stopping]),
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

async function sendResponse({ clock }: ToolParts, exchange: Exchange, response: Response): Promise<void> {
  if (response.status === CLIENT_GONE) throw new ClientGone();
  const type = response.headers.get('content-type');
  if (response.body === null || type === null || type.startsWith(JSON_TYPE)) {
    exchange.body = response.body === null ? null : await response.text();
    exchange.status = response.status;
    if (type !== null) exchange.type = type;
    return;
  }
  exchange.respond = false;
  exchange.res.writeHead(response.status, { 'content-type': type, 'x-accel-buffering': 'no' });
  exchange.res.flushHeaders();
  try {
    await writeThrough(response.body, exchange.res, { clock });
  } catch (error) {
    if (!(error instanceof AnswerClosed)) throw error;
  }
}

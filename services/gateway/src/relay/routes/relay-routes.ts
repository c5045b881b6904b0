import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { CallSink } from '../answers/call-sink.ts';
import { relayEndpoints } from '../endpoints.ts';
import type { RelayEndpoint } from '../endpoints.ts';
import { closeWithoutAccess } from '../../http/admission/watch-access.ts';
import type { AccessParts } from '../../http/admission/watch-access.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { BodyBounds } from '../../http/bodies/read-body.ts';
import type { Relay } from '../relay.ts';
import { readCall } from './read-call.ts';
import { markAnswer } from '../../domain/schema.ts';
import type { RouteDoc, RouteEntry } from '../../http/routes/route.ts';
import { refuse } from '../../refusals.ts';

const ANY_OBJECT = { type: 'object' };
const TEXT = { type: 'string' };
const BYTES = { type: 'string', format: 'binary' };
const DESCRIPTION =
  'The gateway passes the body to an upstream and the answer to the client; ' +
  'it changes only the name of the model. Served by the channels with the endpoint';

/** The endpoints with the same bodies in OpenRouter's API. Its clients have the base address `/api/v1`. */
const AT_OPENROUTER: ReadonlySet<string> = new Set([
  'chat',
  'responses',
  'messages',
  'embeddings',
  'rerank',
  'audio.speech',
]);

/** The parts that the synchronous routes need. */
export interface RelayRouteParts extends BodyBounds, AccessParts {
  readonly relay: Relay;
}

/** The routes of the synchronous endpoints. */
export function relayRoutes(parts: RelayRouteParts): RouteEntry[] {
  const entry = (endpoint: RelayEndpoint, path = endpoint.path): RouteEntry => ({
    kind: 'relay',
    methods: [endpoint.method],
    path,
    token: { counts: 'calls' },
    handle: (exchange) => relay(parts, endpoint, exchange),
    doc: describeRelayRoute(endpoint, path),
  });
  const ofOpenRouter = relayEndpoints.filter(({ name }) => AT_OPENROUTER.has(name));
  return [
    ...relayEndpoints.map((endpoint) => entry(endpoint)),
    ...ofOpenRouter.map((endpoint) => entry(endpoint, `/api${endpoint.path}`)),
  ];
}

/** The relay writes the response itself. A failure before its first byte is refused as on any route. */
async function relay(parts: RelayRouteParts, endpoint: RelayEndpoint, exchange: Exchange): Promise<void> {
  closeWithoutAccess(parts, exchange);
  const call = await readCall(parts, exchange, { endpoint, params: exchange.params });
  exchange.state.model = call.model;
  await parts.relay.call(call, responseSink(exchange.res), exchange.state.end.gone());
  exchange.respond = false;
}

/** The part of a body that the gateway itself requires. The upstream checks the rest. */
const WITH_MODEL = {
  title: 'RelayedCall',
  type: 'object',
  required: ['model'],
  properties: { model: { type: 'string', minLength: 1, description: 'The id of the model.' } },
};
const FORM_WITH_MODEL = {
  ...WITH_MODEL,
  title: 'RelayedForm',
  properties: { ...WITH_MODEL.properties, file: BYTES, image: BYTES },
};

function describeRelayRoute({ name, model, takesForms, answersAlso, summary }: RelayEndpoint, path: string): RouteDoc {
  const json = model === 'body' ? WITH_MODEL : ANY_OBJECT;
  const operationId = `relay_${path.replace(/\W+/g, '_').replace(/^_|_$/g, '')}`;
  return {
    tag: 'Relayed',
    operationId,
    summary,
    description: `${DESCRIPTION} \`${name}\`.`,
    isRelayed: true,
    headers: ['Reelgate-Label'],
    json,
    ...(takesForms ? { form: FORM_WITH_MODEL } : {}),
    answers: {
      'application/json': markAnswer(ANY_OBJECT),
      ...Object.fromEntries(answersAlso.map((type) => [type, type.startsWith('audio/') ? BYTES : TEXT])),
    },
  };
}

/** Writes the answer of a call to the client. Its headers override those that the response already has. */
export function responseSink(response: ServerResponse): CallSink {
  let isFull = false;
  let hasSentHead = false;
  let resume: (() => void) | undefined;
  const write = (chunk: Buffer): boolean => {
    hasSentHead = true;
    if (response.destroyed || response.write(chunk)) return true;
    if (!isFull) {
      isFull = true;
      response.once('drain', () => {
        isFull = false;
        resume?.();
      });
    }
    return false;
  };
  return {
    begin: (status, headers) => {
      response.writeHead(status, headers as OutgoingHttpHeaders);
      if (headers['content-length'] !== undefined) return;
      // a stream sends its head before its first event, but together with an event that has come already
      queueMicrotask(() => {
        if (!hasSentHead && !response.destroyed) response.flushHeaders();
      });
    },
    write,
    onDrain: (next) => {
      resume = next;
    },
    end: (chunk, trailers) => {
      hasSentHead = true;
      if (response.destroyed) return;
      if (Object.keys(trailers).length > 0) response.addTrailers(trailers as Record<string, string>);
      if (chunk === undefined) response.end();
      else response.end(chunk);
    },
    broken: () => {
      response.destroy();
    },
  };
}

/** Refuses a plain HTTP request to `/v1/realtime`. An upgrade to a WebSocket never reaches Koa. */
export function realtimeRoute(): RouteEntry {
  return {
    kind: 'relay',
    methods: ['GET'],
    path: '/v1/realtime',
    token: { counts: 'calls' },
    handle: (exchange) => {
      exchange.set('upgrade', 'websocket');
      throw refuse('upgrade_required', {
        message: 'this route requires a WebSocket; send Connection: Upgrade and Upgrade: websocket',
      });
    },
    doc: {
      tag: 'Relayed',
      operationId: 'relay_v1_realtime',
      summary: 'Open a realtime session over a WebSocket',
      description:
        'The gateway passes messages in both directions between the client and a channel that serves `realtime`.',
      parameters: [{ name: 'model', description: 'The id of the model.', schema: { type: 'string' } }],
      answers: {},
      also: { 101: { description: 'The connection becomes a WebSocket.' } },
      refuses: [400, 404, 426, 502, 504],
    },
  };
}

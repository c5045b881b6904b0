import { relayEndpoints } from '../../relay/endpoints.ts';
import type { RelayEndpoint } from '../../relay/endpoints.ts';
import type { Exchange } from '../exchange.ts';
import { readCall } from '../relay/read-call.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { responseSink } from '../relay/response-sink.ts';
import type { RouteDoc, RouteEntry } from './route.ts';

const ANY_OBJECT = { type: 'object' };
const TEXT = { type: 'string' };
const BYTES = { type: 'string', format: 'binary' };
const DESCRIPTION =
  'The gateway passes the body to an upstream and the answer to the client; ' +
  'it changes only the name of the model. Served by the channels with the endpoint';

/** The routes of the synchronous endpoints. */
export function relayRoutes(parts: GatewayParts): RouteEntry[] {
  return relayEndpoints.map((endpoint): RouteEntry => ({
    kind: 'relay',
    methods: [endpoint.method],
    path: endpoint.path,
    token: { counts: 'calls' },
    handle: (exchange) => relay(parts, endpoint, exchange),
    doc: describeRelayRoute(endpoint),
  }));
}

/** The relay writes the response itself. A failure before its first byte is refused as on any route. */
async function relay(parts: GatewayParts, endpoint: RelayEndpoint, exchange: Exchange): Promise<void> {
  const call = await readCall(parts, exchange, { endpoint, path: exchange.path, params: exchange.params });
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

function describeRelayRoute({ name, path, model, takesForms, answersAlso, summary }: RelayEndpoint): RouteDoc {
  const json = model === 'body' ? WITH_MODEL : ANY_OBJECT;
  const operationId = `relay_${path.replace(/\W+/g, '_').replace(/^_|_$/g, '')}`;
  return {
    tag: 'Relayed',
    operationId,
    summary,
    description: `${DESCRIPTION} \`${name}\`.`,
    isRelayed: true,
    json,
    ...(takesForms ? { form: FORM_WITH_MODEL } : {}),
    answers: {
      'application/json': ANY_OBJECT,
      ...Object.fromEntries(answersAlso.map((type) => [type, type.startsWith('audio/') ? BYTES : TEXT])),
    },
  };
}

import { Problem } from '@reelgate/platform/problem';
import { listVisibleModels } from '../../operations/principals.ts';
import type { Schema } from '../../dialects/dialect.ts';
import { detectClientFamily } from '../client-family.ts';
import type { Exchange } from '../http-exchange.ts';
import { requirePrincipal } from '../http-exchange.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { MODEL_SHAPES } from './model-shapes.ts';
import type { ListedModel, ModelShape } from './model-shapes.ts';
import type { RouteDoc, RouteEntry } from './route.ts';

/** Lists the models that a token may use and an enabled channel has, in the shape of each family of clients. */
export function modelRoutes(parts: GatewayParts): RouteEntry[] {
  const entry = (path: string, doc: RouteDoc, answer: (exchange: Exchange) => object): RouteEntry => ({
    kind: 'read',
    methods: ['GET'],
    path,
    token: { counts: 'reads' },
    doc,
    handle: (exchange) => {
      exchange.body = answer(exchange);
    },
  });
  const { google } = MODEL_SHAPES;
  const models = (exchange: Exchange): readonly ListedModel[] => listModels(parts, exchange);
  const generating = (exchange: Exchange): readonly ListedModel[] =>
    models(exchange).filter(({ generates }) => generates);
  return [
    entry(
      '/v1/models',
      withEveryFamily(
        describeModelRoute('listModels', 'List the models that the token may use', anyShape('pageSchema')),
      ),
      (exchange) => shapeFor(exchange).page(models(exchange)),
    ),
    entry(
      '/v1/models/{model}',
      withEveryFamily(
        withNotFound(describeModelRoute('getModel', 'Read a model that the token may use', anyShape('schema'))),
      ),
      (exchange) => shapeFor(exchange).one(requireListedModel(exchange, models(exchange))),
    ),
    entry(
      '/v1beta/models',
      describeModelRoute(
        'listGenerateContentModels',
        'List the models that generate content and that the token may use',
        google.pageSchema,
      ),
      (exchange) => google.page(generating(exchange)),
    ),
    entry(
      '/v1beta/models/{model}',
      withNotFound(describeModelRoute('getGenerateContentModel', 'Read a model that generates content', google.schema)),
      (exchange) => google.one(requireListedModel(exchange, generating(exchange))),
    ),
  ];
}

/** All families use the same path; each reads only its own shape. */
function shapeFor(exchange: Exchange): ModelShape {
  return MODEL_SHAPES[detectClientFamily(exchange) ?? 'openai'];
}

function anyShape(which: 'schema' | 'pageSchema'): Schema {
  return {
    description:
      "The shape depends on the client: Anthropic's with anthropic-version or x-api-key, " +
      "Google's with x-goog-api-key or ?key=, otherwise OpenAI's.",
    anyOf: Object.values(MODEL_SHAPES).map((shape) => shape[which]),
  };
}

function listModels({ catalogue }: GatewayParts, exchange: Exchange): readonly ListedModel[] {
  const current = catalogue();
  const serving = current.relay.filter(({ enabled, endpoints }) => enabled && endpoints.includes('generate_content'));
  const generating = new Set(serving.flatMap((channel) => Object.keys(channel.models)));
  return listVisibleModels(requirePrincipal(exchange), current).map((id) => ({ id, generates: generating.has(id) }));
}

function requireListedModel({ params }: Exchange, models: readonly ListedModel[]): ListedModel {
  const id = params['model'] ?? '';
  const found = models.find((model) => model.id === id);
  if (found !== undefined) return found;
  throw new Problem({
    kind: 'not_found',
    reason: 'model_not_found',
    field: 'model',
    message:
      `${JSON.stringify(id.slice(0, 64))} does not exist or is not available to this token; ` +
      'GET /v1/models lists the available models',
  });
}

/** At a shared path, each family gets answers and refusals in its own shape. */
const withEveryFamily = (doc: RouteDoc): RouteDoc => ({
  ...doc,
  headers: ['anthropic-version'],
  envelopes: ['openai', 'anthropic', 'google'],
});
const withNotFound = (doc: RouteDoc): RouteDoc => ({ ...doc, refuses: [404] });

function describeModelRoute(operationId: string, summary: string, answer: RouteDoc['answers'][string]): RouteDoc {
  return { tag: 'Models', operationId, summary, answers: { 'application/json': answer } };
}

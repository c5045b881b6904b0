import { Problem } from '@reelgate/platform/problem';
import { visibleModels } from '../operations/visible-models.ts';
import type { Exchange } from './exchange.ts';
import { principalOf } from './exchange.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { MODEL_SHAPES } from './model-shapes.ts';
import type { ModelShape } from './model-shapes.ts';
import type { RouteDoc, RouteEntry } from './route.ts';

type Parts = Pick<GatewayParts, 'catalogue'>;

/** The models that a token sees and an enabled channel has, as each family of clients asks for them. */
export function modelRoutes(parts: Parts): RouteEntry[] {
  const entry = (path: string, doc: RouteDoc, answer: (exchange: Exchange) => object): RouteEntry => ({
    methods: ['GET'], path, token: { counts: 'reads' }, doc,
    handle: (exchange) => {
      exchange.body = answer(exchange);
    },
  });
  const { openai, google } = MODEL_SHAPES;
  return [
    entry('/v1/models', docOf('listModels', 'List the models that the token sees', openai.pageSchema), (exchange) => shapeFor(exchange).page(visible(parts, exchange))),
    entry('/v1/models/{model}', docOf('getModel', 'Read a model that the token sees', openai.schema), (exchange) => shapeFor(exchange).one(named(exchange, visible(parts, exchange)))),
    entry('/v1beta/models', docOf('listGenerateContentModels', 'List the models that the token sees and that generate content', google.pageSchema), (exchange) => google.page(generating(parts, exchange))),
    entry('/v1beta/models/{model}', docOf('getGenerateContentModel', 'Read a model that generates content', google.schema), (exchange) => google.one(named(exchange, generating(parts, exchange)))),
  ];
}

/** Anthropic's clients ask at the same path, and always name their version. */
function shapeFor({ req }: Exchange): ModelShape {
  return req.headers['anthropic-version'] === undefined ? MODEL_SHAPES.openai : MODEL_SHAPES.anthropic;
}

function visible({ catalogue }: Parts, exchange: Exchange): readonly string[] {
  return visibleModels(principalOf(exchange), catalogue());
}

function generating(parts: Parts, exchange: Exchange): readonly string[] {
  const serving = parts.catalogue().relay.filter(({ enabled, endpoints }) => enabled && endpoints.includes('generate_content'));
  const models = new Set(serving.flatMap((channel) => Object.keys(channel.models)));
  return visible(parts, exchange).filter((model) => models.has(model));
}

function named({ params }: Exchange, models: readonly string[]): string {
  const id = params['model'] ?? '';
  if (models.includes(id)) return id;
  throw new Problem({ kind: 'not_found', reason: 'model_not_found', field: 'model', message: `${JSON.stringify(id.slice(0, 64))} is not a model that this token can use here; GET /v1/models lists those that it can` });
}

function docOf(operationId: string, summary: string, answer: RouteDoc['answers'][string]): RouteDoc {
  return { tag: 'Models', operationId, summary, answers: { 'application/json': answer } };
}

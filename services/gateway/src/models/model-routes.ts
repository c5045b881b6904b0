import { listVisibleModels } from '../operations/principals.ts';
import { markAnswer } from '../domain/schema.ts';
import type { AnswerSchema } from '../domain/schema.ts';
import { detectClientFamily } from '../http/client-family.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import { REALTIME_ENDPOINT } from '../relay/endpoints.ts';
import type { Catalogue } from '../domain/model-defaults.ts';
import { MODEL_SHAPES } from './model-shapes.ts';
import type { ListedModel, ModelShape } from './model-shapes.ts';
import type { RouteDoc, RouteEntry } from '../http/routes/route.ts';
import { refuse } from '../refusals.ts';

/** The families of clients that share a path. */
const FAMILIES = ['openai', 'anthropic', 'google'] as const;

/** The parts that the lists of models need. */
export interface ModelRouteParts {
  readonly catalogue: () => Catalogue & { readonly relay: readonly RelayedModels[] };
}

/** The models and the endpoints of a channel of the synchronous routes. */
interface RelayedModels {
  readonly enabled: boolean;
  /** Public id: upstream id. */
  readonly models: Readonly<Record<string, string>>;
  readonly endpoints: readonly string[];
}

/** Lists the models that a token may use and an enabled channel has, in the shape of each family of clients. */
export function modelRoutes(parts: ModelRouteParts): RouteEntry[] {
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
  const { google, openrouter } = MODEL_SHAPES;
  const models = (exchange: Exchange): readonly ListedModel[] => listModels(parts, exchange);
  const generating = (exchange: Exchange): readonly ListedModel[] =>
    models(exchange).filter(({ generates }) => generates);
  return [
    entry(
      '/v1/models',
      withEveryFamily(describeModelRoute('listModels', 'List the models that the token may use', anyShape('page'))),
      (exchange) => shapeFor(exchange).page.encode(models(exchange)),
    ),
    entry(
      '/v1/models/{model}',
      withEveryFamily(
        withNotFound(describeModelRoute('getModel', 'Read a model that the token may use', anyShape('one'))),
      ),
      (exchange) => shapeFor(exchange).one.encode(requireListedModel(exchange, models(exchange))),
    ),
    entry(
      '/api/v1/models',
      describeModelRoute(
        'listOpenRouterModels',
        'List the models that the token may use, in the shape of OpenRouter',
        openrouter.page.schema,
      ),
      (exchange) => openrouter.page.encode(models(exchange)),
    ),
    entry(
      '/v1beta/models',
      describeModelRoute(
        'listGenerateContentModels',
        'List the models that generate content and that the token may use',
        google.page.schema,
      ),
      (exchange) => google.page.encode(generating(exchange)),
    ),
    entry(
      '/v1beta/models/{model}',
      withNotFound(
        describeModelRoute('getGenerateContentModel', 'Read a model that generates content', google.one.schema),
      ),
      (exchange) => google.one.encode(requireListedModel(exchange, generating(exchange))),
    ),
  ];
}

/** All families use the same path; each reads only its own shape. */
function shapeFor(exchange: Exchange): ModelShape {
  return MODEL_SHAPES[detectClientFamily(exchange) ?? 'openai'];
}

/** The schema of an answer that has the shape of the client's family. */
function anyShape(which: keyof ModelShape): AnswerSchema {
  return markAnswer({
    description:
      "The shape depends on the client: Anthropic's with anthropic-version or x-api-key, " +
      "Google's with x-goog-api-key or ?key=, otherwise OpenAI's.",
    anyOf: FAMILIES.map((family) => MODEL_SHAPES[family][which].schema),
  });
}

/** The output of the models of an endpoint, in OpenRouter's words. */
const MAKES: Readonly<Record<string, string>> = {
  chat: 'text',
  responses: 'text',
  messages: 'text',
  generate_content: 'text',
  embeddings: 'embeddings',
  rerank: 'rerank',
  'images.generations': 'image',
  'images.edits': 'image',
  'audio.speech': 'speech',
  'audio.transcriptions': 'transcription',
  'audio.translations': 'transcription',
  [REALTIME_ENDPOINT]: 'audio',
};

function listModels({ catalogue }: ModelRouteParts, exchange: Exchange): readonly ListedModel[] {
  const current = catalogue();
  const endpoints = new Map<string, Set<string>>();
  for (const channel of current.relay.filter(({ enabled }) => enabled))
    for (const id of Object.keys(channel.models))
      endpoints.set(id, new Set([...(endpoints.get(id) ?? []), ...channel.endpoints]));
  return listVisibleModels(requirePrincipal(exchange), current).map((id) => {
    const names = [...(endpoints.get(id) ?? [])];
    const made = names.flatMap((name) => MAKES[name] ?? []);
    return {
      id,
      generates: names.includes('generate_content'),
      makes: [...new Set([...(current.models.has(id) ? ['video'] : []), ...made])],
    };
  });
}

function requireListedModel({ params }: Exchange, models: readonly ListedModel[]): ListedModel {
  const id = params['model'] ?? '';
  const found = models.find((model) => model.id === id);
  if (found !== undefined) return found;
  throw refuse('model_not_found', {
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
  envelopes: FAMILIES,
});
const withNotFound = (doc: RouteDoc): RouteDoc => ({ ...doc, refuses: [404] });

function describeModelRoute(operationId: string, summary: string, answer: AnswerSchema): RouteDoc {
  return { tag: 'Models', operationId, summary, answers: { 'application/json': answer } };
}

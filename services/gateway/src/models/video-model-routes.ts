import type { TokenCaller, VideoModels } from './list-models.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { Exchange } from '../http/http-exchange.ts';
import type { RouteDoc, RouteEntry } from '../http/routes/route.ts';
import { encodeVideoModel, videoModelSchema } from './video-model-shape.ts';

const PATH = '/v1/videos/models';

/** The parts that the catalogue needs. */
export interface VideoModelRouteParts {
  readonly videoModels: VideoModels;
}

/** The catalogue of video models: what the token may order from, within which limits and at which prices. */
export function videoModelRoutes({ videoModels }: VideoModelRouteParts): RouteEntry[] {
  const entry = (path: string, doc: RouteDoc, answer: (exchange: Exchange) => Promise<object>): RouteEntry => ({
    kind: 'read',
    methods: ['GET'],
    path,
    token: { counts: 'reads' },
    doc,
    handle: async (exchange) => {
      exchange.body = await answer(exchange);
    },
  });
  const list = (path: string, operationId: string): RouteEntry =>
    entry(
      path,
      {
        tag: 'Models',
        operationId,
        summary: 'List the video models that the token may use, with limits and prices',
        description: 'In the shape of OpenRouter, with more members. Every generation within the limits is valid.',
        answers: { 'application/json': listSchema },
      },
      async (exchange) => ({ data: (await videoModels.list(toTokenCaller(exchange))).map(encodeVideoModel) }),
    );
  return [
    list(PATH, 'listVideoModels'),
    list(`/api${PATH}`, 'listOpenRouterVideoModels'),
    entry(
      `${PATH}/{model}`,
      {
        tag: 'Models',
        operationId: 'getVideoModel',
        summary: 'Read a video model that the token may use',
        answers: { 'application/json': videoModelSchema },
        refuses: [404],
      },
      async (exchange) =>
        encodeVideoModel(await videoModels.find(exchange.params['model'] ?? '', toTokenCaller(exchange))),
    ),
  ];
}

const listSchema = {
  title: 'VideoModelList',
  type: 'object',
  required: ['data'],
  additionalProperties: false,
  properties: { data: { type: 'array', items: videoModelSchema } },
};

function toTokenCaller(exchange: Exchange): TokenCaller {
  const { accountId, tokenId } = requirePrincipal(exchange);
  const { requestId, span } = exchange.state;
  return { accountId, tokenId, requestId, span };
}

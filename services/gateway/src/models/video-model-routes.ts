import type { TokenCaller, VideoModels } from './list-models.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { jsonRoute } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { objectSchema } from '../domain/schema.ts';
import { encodeVideoModel, videoModelSchema } from './video-model-shape.ts';

const PATH = '/v1/videos/models';
const TAG = 'Models';
const READ = { kind: 'read', methods: ['GET'], token: { counts: 'reads' } } as const;

/** The parts that the catalogue needs. */
export interface VideoModelRouteParts {
  readonly videoModels: VideoModels;
}

/** The catalogue of video models: the models that the token may order from, with their limits and prices. */
export function videoModelRoutes({ videoModels }: VideoModelRouteParts): RouteEntry[] {
  const list = (path: string, operationId: string): RouteEntry =>
    jsonRoute({
      ...READ,
      path,
      doc: {
        tag: TAG,
        operationId,
        summary: 'List the video models that the token may use, with limits and prices',
        description: 'In the shape of OpenRouter, with more members. Every generation within the limits is valid.',
      },
      answer: { title: 'VideoModelList', ...objectSchema({ data: { type: 'array', items: videoModelSchema } }) },
      respond: async (exchange) => ({ data: (await videoModels.list(toTokenCaller(exchange))).map(encodeVideoModel) }),
    });
  return [
    list(PATH, 'listVideoModels'),
    list(`/api${PATH}`, 'listOpenRouterVideoModels'),
    jsonRoute({
      ...READ,
      path: `${PATH}/{model}`,
      doc: {
        tag: TAG,
        operationId: 'getVideoModel',
        summary: 'Read a video model that the token may use',
        refuses: [404],
      },
      answer: videoModelSchema,
      respond: async (exchange) =>
        encodeVideoModel(await videoModels.find(exchange.params['model'] ?? '', toTokenCaller(exchange))),
    }),
  ];
}

function toTokenCaller(exchange: Exchange): TokenCaller {
  const { accountId, tokenId } = requirePrincipal(exchange);
  const { requestId, span } = exchange.state;
  return { accountId, tokenId, requestId, span };
}

import type { RouteEntry } from './route.ts';
import { refuse } from '../../refusals.ts';

/** A known route that is not implemented. */
interface UnsupportedRoute {
  readonly path: string;
  readonly operationId: string;
  /** The advice for the client. */
  readonly instead: string;
  /** True if the path itself has a route, so that only the paths below it are meant. */
  readonly isBelow: boolean;
}

type Row = readonly [path: string, operationId: string];
const rows = (instead: string, list: readonly Row[], isBelow = false): readonly UnsupportedRoute[] =>
  list.map(([path, operationId]) => ({ path, operationId, instead, isBelow }));

const SEND_FILES = 'send a file to the route that uses it, as a URL, base64, a data URL or a form';
const READ_ANSWERS =
  'the answer of a call is the only one: read it there, or make the call below /async and read it at GET /get-async';
const SEND_CONVERSATIONS = 'send the conversation with each call, or previous_response_id';
const CALL_ASYNC = 'make each call below /async, and read its answer at GET /get-async';
const OPEN_REALTIME = 'open a WebSocket at GET /v1/realtime with the token of the gateway';
const CALL_MODELS = 'GET /v1/models lists the models, and /openapi.json the routes that call them';

/** Routes that an operator turns on with `gateway.batches`. */
export const WITHOUT_BATCHES = rows(SEND_FILES, [
  ['/v1/files', 'Files'],
  ['/v1/batches', 'Batches'],
]);

/** Known routes that are not implemented. Every method gets the same answer. */
export const UNSUPPORTED: readonly UnsupportedRoute[] = [
  ...rows(SEND_FILES, [
    ['/v1/images/variations', 'ImageVariations'],
    ['/v1/fine-tunes', 'FineTunes'],
    ['/v1/fine_tuning', 'FineTuning'],
    ['/v1/uploads', 'Uploads'],
    ['/v1/containers', 'Containers'],
    ['/v1/vector_stores', 'VectorStores'],
    ['/v1beta/files', 'GoogleFiles'],
    ['/upload', 'GoogleUploads'],
    ['/v1beta/fileSearchStores', 'GoogleFileSearchStores'],
  ]),
  ...rows(READ_ANSWERS, [['/v1/responses', 'Responses']], true),
  ...rows(READ_ANSWERS, [['/v1/chat/completions', 'ChatCompletions']], true),
  ...rows(SEND_CONVERSATIONS, [
    ['/v1/conversations', 'Conversations'],
    ['/v1/assistants', 'Assistants'],
    ['/v1/threads', 'Threads'],
    ['/v1/skills', 'Skills'],
    ['/v1beta/cachedContents', 'GoogleCachedContents'],
    ['/v1beta/interactions', 'GoogleInteractions'],
  ]),
  ...rows(CALL_ASYNC, [
    ['/v1/messages/batches', 'MessageBatches'],
    ['/v1beta/batches', 'GoogleBatches'],
  ]),
  ...rows(CALL_MODELS, [
    ['/v1/completions', 'Completions'],
    ['/v1/moderations', 'Moderations'],
  ]),
  ...rows(OPEN_REALTIME, [['/v1/realtime', 'Realtime']], true),
];

export function notImplementedRoutes(routes: readonly UnsupportedRoute[]): RouteEntry[] {
  return routes.flatMap(({ path, operationId, instead, isBelow }) => [
    ...(isBelow ? [] : [entry(path, operationId, instead)]),
    entry(`${path}/{+rest}`, `${operationId}Below`, instead),
  ]);
}

function entry(path: string, operationId: string, instead: string): RouteEntry {
  return {
    kind: 'unsupported',
    methods: 'all',
    path,
    token: { counts: 'reads' },
    handle: () => {
      throw refuse('api_not_implemented', { message: `this route is not implemented; ${instead}` });
    },
    doc: {
      tag: 'Not implemented',
      operationId: `unsupported${operationId}`,
      summary: 'Not implemented; always answers 501',
      answers: {},
      refuses: [501],
    },
  };
}

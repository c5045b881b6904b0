import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { MediaPort, ServedObject } from '../../clients/media-port.ts';
import type { Task } from '../../clients/tasks-client.ts';
import { newAnswer, objectSchema } from '../../domain/schema.ts';
import type { TaskPath } from '../../dialects/dialect.ts';
import { toStatusName } from '../../dialects/wire/task-fields.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { closeWithoutAccess } from '../admission/watch-access.ts';
import type { AccessParts } from '../admission/watch-access.ts';
import type { Exchange } from '../http-exchange.ts';
import { requirePrincipal } from '../http-exchange.ts';
import type { TaskReader } from '../../operations/read-task.ts';
import { computePollDelayMs } from '../headers.ts';
import type { RouteDoc, RouteEntry } from './route.ts';
import { readTaskId } from './task-id.ts';
import { isFinal } from '../../clients/tasks-client.ts';
import { refuse } from '../../refusals.ts';

const PROMPT_ANSWER = newAnswer(
  { title: 'EnhancedPrompt', ...objectSchema({ prompt: { type: 'string' } }) },
  (prompt: string) => ({ prompt }),
);
const VARIANTS = ['video', 'thumbnail', 'last_frame'] as const;
type Variant = (typeof VARIANTS)[number];
const VIDEO = { type: 'string', format: 'binary' };
const BYTE_HEADERS = ['accept-ranges', 'content-disposition'] as const;
/** The answers with bytes that are not 200. */
const otherAnswers = (types: readonly string[]): NonNullable<RouteDoc['also']> => ({
  206: { description: 'The requested range.', headers: [...BYTE_HEADERS, 'content-range'], types },
  302: { description: 'Redirects to the bytes in a bucket.', headers: ['location'] },
  304: { description: 'Not modified since the last fetch.' },
});

/** The file of each variant. The generator decides the type of a last frame, so media adds its extension. */
const FILES: Readonly<Record<Variant, (taskId: string) => Omit<ServedObject, 'object'>>> = {
  video: (taskId) => ({ fileName: `${taskId}.mp4` }),
  thumbnail: (taskId) => ({ fileName: `${taskId}.jpg`, variant: 'thumbnail' }),
  last_frame: (taskId) => ({ fileName: `${taskId}_last_frame`, variant: 'last_frame' }),
};

/** The parts that the routes of results need. */
export interface ContentRouteParts extends AccessParts {
  readonly media: MediaPort;
  readonly reader: TaskReader;
}

/** Serves the bytes of results: by task id with a token, or by signed link without one. */
export function contentRoutes(parts: ContentRouteParts): RouteEntry[] {
  return [
    contentRoute(parts, '/v1/videos/{task_id}/content', 'getVideoContent'),
    contentRoute(parts, '/api/v1/videos/{task_id}/content', 'getOpenRouterVideoContent'),
    {
      kind: 'read',
      methods: ['GET'],
      path: '/ximg/{+link}',
      handle: (exchange) => serveFromMedia(exchange, () => parts.media.serveLink(exchange.req, exchange.res)),
      doc: {
        tag: 'Results',
        operationId: 'getLinkedVideo',
        summary: 'Fetch a result by its signed link, without a token',
        headers: ['Range'],
        answers: { 'video/mp4': VIDEO },
        answerHeaders: BYTE_HEADERS,
        also: otherAnswers(['video/mp4']),
        refuses: [403, 404, 410, 412, 416],
      },
    },
  ];
}

function contentRoute(parts: ContentRouteParts, path: TaskPath, operationId: string): RouteEntry {
  return {
    kind: 'read',
    methods: ['GET'],
    path,
    token: { counts: 'reads' },
    handle: (exchange) => serveContent(parts, exchange),
    doc: {
      tag: 'Results',
      operationId,
      summary: 'Fetch the result of a completed task',
      description:
        'Returns the video, with support for Range. A context-IR task returns its prompt as JSON. ' +
        '409 until the task is completed; 410 after `expires_at`.',
      parameters: [
        {
          name: 'variant',
          description:
            'Returns the video, its thumbnail, or the picture of its last frame if `return_last_frame` asked for it.',
          schema: { enum: VARIANTS },
        },
        { name: 'index', description: 'The place of the video; a task has one.', schema: { const: 0 } },
      ],
      headers: ['Range'],
      answers: {
        'video/mp4': VIDEO,
        'image/jpeg': VIDEO,
        'image/png': VIDEO,
        'application/json': PROMPT_ANSWER.schema,
      },
      answerHeaders: BYTE_HEADERS,
      also: otherAnswers(['video/mp4', 'image/jpeg', 'image/png']),
      refuses: [400, 404, 409, 410, 412, 416],
    },
  };
}

async function serveContent(parts: ContentRouteParts, exchange: Exchange): Promise<void> {
  const query = new URLSearchParams(exchange.querystring);
  const variant = readVariant(query);
  if (!['0', null].includes(query.get('index')))
    throw invalid('index', 'must be 0: a task has one video', 'invalid_request');
  const task = await parts.reader.read(
    { accountId: requirePrincipal(exchange).accountId, taskId: readTaskId(exchange) },
    exchange.state.requestId,
    exchange.state.span,
  );
  const { object, prompt } = requireResult(task, parts.clock.now());
  closeWithoutAccess(parts, exchange);
  if (object === '') {
    exchange.set({ 'cache-control': 'private', 'content-disposition': 'inline' });
    exchange.body = PROMPT_ANSWER.encode(prompt);
    return;
  }
  const what = FILES[variant](task.id);
  const direct = isFromPage(exchange);
  await serveFromMedia(exchange, () => parts.media.serve(exchange.req, exchange.res, { object, ...what, direct }));
}

function readVariant(query: URLSearchParams): Variant {
  const asked = query.get('variant') ?? 'video';
  const variant = VARIANTS.find((known) => known === asked);
  if (variant === undefined) throw invalid('variant', 'must be video, thumbnail or last_frame', 'invalid_request');
  return variant;
}

function requireResult(task: Task, now: number): NonNullable<Task['result']> {
  if (!isFinal(task)) {
    throw refuse('task_not_completed', {
      message: `the task is ${toStatusName(task)}; it has a result only once it is completed`,
      retryAfterMs: computePollDelayMs(task),
    });
  }
  if (task.result === undefined)
    throw refuse('task_not_completed', { message: `the task is ${toStatusName(task)} and has no result` });
  if (task.expiresAt !== undefined && timestampMs(task.expiresAt) <= now)
    throw refuse('result_expired', { message: 'the result has expired: expires_at has passed' });
  return task.result;
}

/** The policy of the console's pages does not allow another origin, such as a bucket. */
function isFromPage({ path }: Exchange): boolean {
  return path.startsWith('/console/');
}

/** Lets media write the response. Only a failure before the first byte returns to Koa. */
export async function serveFromMedia(exchange: Exchange, serve: () => Promise<unknown>): Promise<void> {
  exchange.res.statusCode = 200;
  await serve();
  exchange.respond = false;
}

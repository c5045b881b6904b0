import type { IncomingMessage } from 'node:http';
import { readBody } from '../http/sandbox-server.ts';
import { internalError, Refusal, refusalBy } from '../vendor-refusal.ts';
import type { SandboxParts } from '../sandbox-parts.ts';
import { completeChat } from './complete-chat-route.ts';
import { createTask, listTasks, queryTask, deleteTask, resultBytes } from './task-routes.ts';
import type { RouteHandler, Answer } from './route-handler.ts';

type Route = {
  readonly methods: readonly string[];
  readonly path: RegExp;
  readonly open?: true;
  readonly handle: RouteHandler;
};

const routes: readonly Route[] = [
  { methods: ['POST'], path: /^\/v2\/video_generation$/, handle: createTask('generation') },
  { methods: ['POST'], path: /^\/v2\/video_regeneration$/, handle: createTask('regeneration') },
  { methods: ['POST'], path: /^\/v2\/h3_context_ir$/, handle: createTask('h3_context_ir') },
  { methods: ['GET'], path: /^\/v2\/query\/video_generation$/, handle: listTasks },
  { methods: ['GET'], path: /^\/v2\/query\/video_generation\/([^/]+)$/, handle: queryTask },
  { methods: ['DELETE'], path: /^\/v2\/video_generation\/([^/]+)$/, handle: deleteTask },
  { methods: ['POST'], path: /^\/v1\/chat\/completions$/, handle: completeChat },
  // A result link has a signature of its own and needs no key.
  { methods: ['GET', 'HEAD'], path: /^\/cdn\/([^/]+)\/output\.mp4$/, open: true, handle: resultBytes },
];

export async function route(request: IncomingMessage, key: string, parts: SandboxParts): Promise<Answer> {
  const { pathname, searchParams } = new URL(`http://sandbox${request.url ?? '/'}`);
  const method = request.method ?? '';
  const at = routes.filter(({ path }) => path.test(pathname));
  const found = at.find(({ methods }) => methods.includes(method));
  if (found?.open !== true) checkKey(request.headers.authorization, key);
  if (found === undefined) throw noRoute(at.length > 0 ? 405 : 404, `${method} ${pathname.slice(0, 100)}`);
  const body = method === 'POST' ? await readBody(request) : undefined;
  return found.handle(
    { method, id: found.path.exec(pathname)?.[1] ?? '', query: searchParams, range: request.headers.range, body },
    parts,
  );
}

function noRoute(http: number, asked: string): Refusal {
  return new Refusal({ http, type: 'bad_request_error', code: 2013, text: `no route for ${asked}` });
}

function checkKey(authorization: string | undefined, key: string): void {
  const given = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
  if (given !== key) throw refusalBy(given === undefined ? 1004 : 2049) ?? internalError();
}

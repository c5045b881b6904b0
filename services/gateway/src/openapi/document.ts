import { dialects } from '../dialects/index.ts';
import type { QueryParameter, Schema } from '../dialects/dialect.ts';
import type { RouteDoc, RouteEntry } from '../http/route.ts';
import { hoist } from './hoist.ts';
import { errorResponses } from './error-responses.ts';

type HeaderName = NonNullable<RouteDoc['headers']>[number];

const HEADERS: Readonly<Record<HeaderName, Omit<QueryParameter, 'name'>>> = {
  Prefer: { description: '`wait=N`: hold the answer until the status changes or N seconds (1 to 60) pass.', schema: { type: 'string', examples: ['wait=20'] } },
  'Idempotency-Key': { description: '1 to 255 visible ASCII characters. The same key with the same body gives the first answer again for 24 hours.', schema: { type: 'string', minLength: 1, maxLength: 255 } },
  Range: { description: 'A part of the bytes.', schema: { type: 'string', examples: ['bytes=0-1023'] } },
};

/** The OpenAPI document of the routes that are mounted, with the schemas that check their bodies. */
export function openApiDocument(routes: readonly RouteEntry[], publicUrl: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    for (const method of route.methods === 'all' ? ['get', 'post', 'delete'] as const : route.methods) {
      const name = route.path.replace('{+', '{');
      paths[name] = { ...paths[name], [method.toLowerCase()]: operationOf(route, method, route.methods === 'all') };
    }
  }
  const { document, schemas } = hoist(paths);
  return {
    openapi: '3.1.0',
    info: { title: 'Reelgate', version: '1.0.0', description: 'Asynchronous video generation: create a task, poll it, fetch its result. Two dialects name the same tasks; a client uses one of them.' },
    servers: [{ url: publicUrl }],
    tags: tagsOf(routes).map((name) => ({ name })),
    paths: document,
    components: { schemas, securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'The site token.' } } },
  };
}

function operationOf(route: RouteEntry, method: string, many: boolean): object {
  const { doc, path, token } = route;
  const parameters = [...pathParameters(path), ...(doc.parameters ?? []).map((parameter) => ({ in: 'query', ...parameter })), ...(doc.headers ?? []).map((name) => ({ in: 'header', name, ...HEADERS[name] }))];
  const bodies = { ...(doc.json === undefined ? {} : { 'application/json': { schema: doc.json } }), ...(doc.form === undefined ? {} : { 'multipart/form-data': { schema: doc.form } }) };
  return {
    tags: [doc.tag], operationId: many ? `${doc.operationId}_${method.toLowerCase()}` : doc.operationId, summary: doc.summary,
    ...(doc.description === undefined ? {} : { description: doc.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(Object.keys(bodies).length === 0 ? {} : { requestBody: { required: true, content: bodies } }),
    security: token === undefined ? [] : [{ token: [] }],
    responses: { ...successOf(doc), ...errorResponses(route) },
  };
}

function successOf({ answers, status = 200 }: RouteDoc): object {
  if (Object.keys(answers).length === 0) return {};
  return { [status]: { description: status === 200 ? 'Done.' : 'Accepted.', content: Object.fromEntries(Object.entries(answers).map(([type, schema]: [string, Schema]) => [type, { schema }])) } };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{\+?(\w+)\}/g)].map(([, name]) => ({ in: 'path', name, required: true, schema: { type: 'string' } }));
}

/** Dialects first, in their order. */
function tagsOf(routes: readonly RouteEntry[]): string[] {
  return [...new Set([...dialects.map(({ name }) => name), ...routes.map(({ doc }) => doc.tag)])];
}

import { dialects } from '../dialects/index.ts';
import type { QueryParameter } from '../dialects/dialect.ts';
import type { Schema } from '../domain/schema.ts';
import { ANNOTATIONS } from '../domain/annotations.ts';
import type { AnnotationHeader } from '../domain/annotations.ts';
import type { RouteDoc, RouteEntry, Method } from '../http/routes/route.ts';
import { collectErrors, referToErrors } from './error-responses.ts';
import { shareComponents, headerComponents, buildHeaderRefs } from './share-components.ts';
import type { Answer, Operation, Parameter } from './share-components.ts';
import { LIMIT_HEADERS } from '../http/response-headers.ts';
import type { ResponseHeader } from '../http/response-headers.ts';
import { isDeepStrictEqual } from 'node:util';

/** The title, the version and the description of the API. */
export const API = {
  title: 'Reelgate',
  version: '1.0.0',
  description:
    'Asynchronous video generation: create a task, poll it, fetch its result. ' +
    'Several dialects give access to the same tasks; a client uses one of them.',
};

type HeaderName = NonNullable<RouteDoc['headers']>[number];

/** The request headers that routes read. */
export const HEADERS: Readonly<Record<HeaderName, Omit<QueryParameter, 'name'>>> = {
  Prefer: {
    description:
      'A read: `wait=N` holds the answer until the status changes or N seconds (1 to 60) pass. A create, while all is ' +
      'busy: `queue=wait` or `queue=none`, `class=batch` or another class, `start-within=SECONDS`, ' +
      '`not-before="TIME"`. Others are ignored.',
    schema: { type: 'string', examples: ['wait=20', 'queue=wait, start-within=600'] },
  },
  'Idempotency-Key': {
    description:
      '1 to 255 visible ASCII characters. ' +
      'For 24 hours, the same key with the same body returns the first answer again.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
  ...documentAnnotations(),
  Range: { description: 'Requests a range of the bytes.', schema: { type: 'string', examples: ['bytes=0-1023'] } },
  'Last-Event-ID': {
    description: 'The id of the last event that the client has. The stream goes on after it.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{0,64}$' },
  },
  'anthropic-version': {
    description: "Anthropic's clients send it; the answer then has their shape.",
    schema: { type: 'string', examples: ['2023-06-01'] },
  },
};

function documentAnnotations(): Readonly<Record<AnnotationHeader, Omit<QueryParameter, 'name'>>> {
  const documented = Object.values(ANNOTATIONS).map(({ header, description, schema, example }) => [
    header,
    { description, schema: { ...schema, examples: [example] } },
  ]);
  return Object.fromEntries(documented) as Readonly<Record<AnnotationHeader, Omit<QueryParameter, 'name'>>>;
}

/** The schemas of path parameters, by name. */
const PATH_SCHEMAS: Readonly<Record<string, Schema>> = {
  task_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  batch_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  file_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  video_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  webhook_endpoint_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  webhook_delivery_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
};
const NOT_SERVED = 'Known routes of these APIs that are not served answer 501 and name the route to use instead.';

/**
 * Builds the OpenAPI document of the routes. It leaves out those that are not implemented, for which a generator of
 * clients would write functions.
 */
export function openApiDocument(described: readonly RouteEntry[], publicUrl: string): object {
  const routes = described.filter(({ kind }) => kind !== 'unsupported');
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    for (const method of listMethods(route)) {
      const name = toShownPath(route);
      paths[name] = { ...paths[name], [method.toLowerCase()]: buildOperation(route) };
    }
  }
  const shared = shareComponents(paths);
  const { document, schemas } = hoist({ ...shared, responses: { ...shared.responses, ...collectErrors(routes) } });
  return {
    openapi: '3.1.0',
    info: { ...API, description: `${API.description} ${NOT_SERVED}` },
    servers: [{ url: publicUrl }],
    tags: collectTags(routes).map((name) => ({ name })),
    security: [{ token: [] }],
    paths: document.paths,
    components: {
      schemas,
      parameters: document.parameters,
      responses: document.responses,
      headers: headerComponents,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'The site token. The headers x-api-key and x-goog-api-key are accepted too.',
        },
      },
    },
  };
}

function buildOperation(route: RouteEntry): Operation {
  const { doc, path, token } = route;
  const parameters: readonly Parameter[] = [
    ...buildPathParameters(path),
    ...(doc.parameters ?? []).map((parameter) => ({ in: 'query' as const, ...parameter })),
    ...(doc.headers ?? []).map((name) => ({ in: 'header' as const, name, ...HEADERS[name] })),
  ];
  const bodies = {
    ...(doc.json === undefined ? {} : { 'application/json': { schema: doc.json } }),
    ...(doc.form === undefined ? {} : { 'multipart/form-data': { schema: doc.form } }),
  };
  return {
    tags: [doc.tag],
    operationId: doc.operationId,
    summary: doc.summary,
    ...(doc.description === undefined ? {} : { description: doc.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(Object.keys(bodies).length === 0 ? {} : { requestBody: { required: true, content: bodies } }),
    ...(token === undefined ? { security: [] } : {}),
    responses: { ...buildSuccess(route), ...referToErrors(route) },
  };
}

function buildSuccess({ doc, token }: RouteEntry): Readonly<Record<string, Answer>> {
  const { answers, status = 200, answerHeaders = [], also = {} } = doc;
  const headers = (more: readonly ResponseHeader[]): object =>
    buildHeaderRefs(['x-request-id', ...(token === undefined ? [] : LIMIT_HEADERS), ...more]);
  const content = Object.fromEntries(
    Object.entries(answers).map(([type, schema]: [string, Schema]) => [type, { schema }]),
  );
  const first =
    Object.keys(answers).length === 0
      ? {}
      : {
          [status]: {
            description: status === 200 ? 'Success.' : 'Accepted.',
            headers: headers(answerHeaders),
            content,
          },
        };
  const others = Object.entries(also).map(
    ([code, { description, headers: more = [], types = [] }]): [string, Answer] => [
      code,
      {
        description,
        headers: headers(more),
        ...(types.length === 0
          ? {}
          : { content: Object.fromEntries(types.map((type) => [type, { schema: answers[type] ?? {} }])) }),
      },
    ],
  );
  return { ...first, ...Object.fromEntries(others) };
}

function buildPathParameters(path: string): Parameter[] {
  return [...path.matchAll(/\{\+?(\w+)\}/g)].map(([, name = '']) => ({
    in: 'path' as const,
    name,
    required: true,
    schema: PATH_SCHEMAS[name] ?? { type: 'string', minLength: 1 },
  }));
}

/** Collects the tags: first the dialects in their order, then the others. */
function collectTags(routes: readonly RouteEntry[]): string[] {
  return [...new Set([...dialects.map(({ name }) => name), ...routes.map(({ doc }) => doc.tag)])];
}

/**
 * Finds a route by its method and its path as the table has it. Throws if the table has no such route, because a text
 * names it.
 */
export function findRoute(routes: readonly RouteEntry[], method: Method, path: string): RouteEntry {
  const found = routes.find((route) => route.path === path && listMethods(route).includes(method));
  if (found === undefined) throw new Error(`no route ${method} ${path}`);
  return found;
}

export function listMethods({ methods }: RouteEntry): readonly string[] {
  return methods === 'all' ? ['any method'] : methods;
}

/** The path as a page shows it. */
export function toShownPath({ path }: RouteEntry): string {
  return path.replace('{+', '{');
}

const SCHEMA_KEYWORDS = ['type', 'oneOf', 'anyOf', 'allOf'];

type Json = Readonly<Record<string, unknown>>;

/**
 * Moves every schema with a title to the components and leaves a reference in its place, with the description if that
 * is the place's own.
 */
function hoist<T extends object>(
  value: T,
): {
  readonly document: T;
  readonly schemas: Readonly<Record<string, unknown>>;
} {
  const schemas = new Map<string, Json>();
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    const copy = Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, walk(inner)]));
    return isTitled(node as Json) ? refer(copy) : copy;
  };
  const refer = (schema: Json): object => {
    const title = String(schema['title']);
    const $ref = `#/components/schemas/${title}`;
    const known = schemas.get(title);
    schemas.set(title, known ?? schema);
    const { description } = schema;
    if (known === undefined || isDeepStrictEqual(known, schema)) return { $ref };
    if (!isDeepStrictEqual({ ...known, description }, schema)) throw new Error(`two schemas have the title ${title}`);
    return { description, $ref };
  };
  return {
    document: walk(value) as T,
    schemas: Object.fromEntries([...schemas].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** Reports whether this is a schema with a title, not an object with a property called `title`. */
function isTitled(node: Json): boolean {
  return typeof node['title'] === 'string' && SCHEMA_KEYWORDS.some((keyword) => keyword in node);
}

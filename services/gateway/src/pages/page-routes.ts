import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { AGENT_PATHS } from './llms-index.ts';
import { API, openApiDocument } from './document.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { toRoot } from '@reelgate/platform/http/path-prefix';
import { memberSchemas, newAnswer, objectSchema } from '../domain/schema.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { refuse } from '../refusals.ts';

const LINKS = { documentation: '/docs', openapi: '/openapi.json', llms: AGENT_PATHS.index, models: '/v1/models' };
const writeHomePage = (root: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${API.title}</title>
<link rel="icon" href="${root}docs/favicon-32x32.png">
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #222; }
code { background: #eee; padding: 0 .25em; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #1b1b1b; } code { background: #333; } a { color: #8bf; }
}
</style>
</head>
<body>
<h1>${API.title}</h1>
<p>This is a video generation API. Create a task, poll it, and fetch the finished video.</p>
<ul>
<li><a href="${root}${LINKS.documentation.slice(1)}">Documentation</a>: every route, with its parameters and answers</li>
<li><a href="${root}${LINKS.openapi.slice(1)}">OpenAPI document</a>: the same for programs</li>
<li><a href="${root}${LINKS.llms.slice(1)}">llms.txt</a>: the same as text, with a skill for agents</li>
</ul>
<p>Every request needs a token: <code>Authorization: Bearer &lt;token&gt;</code>.</p>
</body>
</html>
`;

/** A page loads only files of this service, and no other site can frame it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TAG = 'Documentation';
const require = createRequire(import.meta.url);
const FOLDER = path.dirname(require.resolve('swagger-ui-dist/package.json'));
/** The files of the package that are served, with their media types. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};
const START = `window.ui = SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href, dom_id: '#page', deepLinking: true, docExpansion: 'none', validatorUrl: null,
});
`;
const writePage = (root: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reelgate API</title>
<link rel="icon" href="${root}docs/favicon-32x32.png">
<link rel="stylesheet" href="${root}docs/swagger-ui.css">
</head>
<body>
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="${root}openapi.json">/openapi.json</a>.</noscript>
<main id="page"></main>
<script src="${root}docs/swagger-ui-bundle.js"></script>
<script src="${root}docs/start.js"></script>
</body>
</html>
`;

/** The OpenAPI document, and a page that shows it. The page does not load files from another host. */
export function pageRoutes(described: readonly RouteEntry[], publicUrl: string): RouteEntry[] {
  const page = (route: string, operationId: string, summary: string, handle: RouteEntry['handle']): RouteEntry => ({
    kind: 'page',
    methods: ['GET'],
    path: route,
    handle,
    doc: { tag: TAG, operationId, summary, answers: {} },
  });
  let text: string | undefined;
  return [
    page('/openapi.json', 'getOpenApi', 'Read this document', (exchange) => {
      exchange.type = 'application/json; charset=utf-8';
      exchange.body = text ??= JSON.stringify(openApiDocument(described, publicUrl));
    }),
    page('/docs', 'getDocs', 'Browse this document', (exchange) => {
      securePage(exchange);
      exchange.type = 'text/html; charset=utf-8';
      exchange.body = writePage(toRoot(exchange.path));
    }),
    page('/docs/start.js', 'getDocsStart', 'Read a file of the documentation page', (exchange) => {
      exchange.type = 'text/javascript; charset=utf-8';
      exchange.body = START;
    }),
    page('/docs/{file}', 'getDocsFile', 'Read a file of the documentation page', serveFile),
  ];
}

async function serveFile(exchange: Exchange): Promise<void> {
  const name = exchange.params['file'] ?? '';
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (type === undefined) throw refuse('not_found', { message: `no route at ${exchange.path.slice(0, 200)}` });
  exchange.type = type;
  exchange.set('cache-control', 'public, max-age=3600');
  exchange.body = await readFile(path.join(FOLDER, name));
}

/** Sets the security headers of an HTML page. */
function securePage(exchange: Exchange): void {
  exchange.set({ 'content-security-policy': CONTENT_SECURITY_POLICY, 'referrer-policy': 'no-referrer' });
}

const LINK_NAMES = Object.keys(LINKS) as readonly (keyof typeof LINKS)[];
type HomeLinks = Readonly<Record<keyof typeof LINKS, string>>;

const HOME_ANSWER = newAnswer(
  {
    title: 'ServiceInfo',
    ...objectSchema({
      name: { type: 'string' },
      version: { type: 'string', description: 'The version of the API.' },
      description: { type: 'string' },
      links: objectSchema(memberSchemas(LINK_NAMES, { type: 'string' })),
    }),
  },
  (links: HomeLinks) => ({ name: API.title, version: API.version, description: API.description, links }),
);

function toLinks(publicUrl: string): HomeLinks {
  return Object.fromEntries(LINK_NAMES.map((name) => [name, `${publicUrl}${LINKS[name]}`])) as HomeLinks;
}

/** Describes this service: a page for a browser, JSON for a program. */
export function homeRoute(publicUrl: string): RouteEntry {
  const links = toLinks(publicUrl);
  return {
    kind: 'page',
    methods: ['GET'],
    path: '/',
    handle: (exchange) => {
      exchange.vary('accept');
      if (prefersHtml(exchange)) {
        securePage(exchange);
        exchange.type = 'text/html; charset=utf-8';
        exchange.body = writeHomePage(toRoot(exchange.path));
      } else {
        exchange.body = HOME_ANSWER.encode(links);
      }
    },
    doc: {
      tag: 'About',
      operationId: 'getHome',
      summary: 'Read what this service is, and where its documentation is',
      description: 'Answers with a page if the client prefers `text/html`, as a browser does, and with JSON otherwise.',
      answers: {
        'application/json': HOME_ANSWER.schema,
        'text/html': { type: 'string' },
      },
    },
  };
}

/** A client that accepts anything gets JSON. */
function prefersHtml(exchange: Exchange): boolean {
  return exchange.accepts('application/json', 'text/html') === 'text/html';
}

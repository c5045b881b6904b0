import { API } from '../../openapi/document.ts';
import type { Exchange } from '../exchange.ts';
import { securePage } from './page-headers.ts';
import type { RouteEntry } from './route.ts';

const LINKS = { documentation: '/docs', openapi: '/openapi.json', models: '/v1/models' };

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${API.title}</title>
<link rel="icon" href="/docs/favicon-32x32.png">
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
<li><a href="${LINKS.documentation}">Documentation</a>: every route, with its parameters and answers</li>
<li><a href="${LINKS.openapi}">OpenAPI document</a>: the same for programs</li>
</ul>
<p>Every request needs a token: <code>Authorization: Bearer &lt;token&gt;</code>.</p>
</body>
</html>
`;

/** Describes this service: a page for a browser, JSON for a program. */
export function homeRoute(publicUrl: string): RouteEntry {
  const links = Object.fromEntries(Object.entries(LINKS).map(([name, path]) => [name, `${publicUrl}${path}`]));
  return {
    kind: 'page',
    methods: ['GET'],
    path: '/',
    handle: (exchange) => {
      exchange.vary('accept');
      if (prefersHtml(exchange)) {
        securePage(exchange);
        exchange.type = 'text/html; charset=utf-8';
        exchange.body = PAGE;
      } else {
        exchange.body = { name: API.title, version: API.version, description: API.description, links };
      }
    },
    doc: {
      tag: 'About',
      operationId: 'getHome',
      summary: 'Read what this service is, and where its documentation is',
      description: 'Answers with a page if the client prefers `text/html`, as a browser does, and with JSON otherwise.',
      answers: {
        'application/json': {
          title: 'ServiceInfo',
          type: 'object',
          required: ['name', 'version', 'description', 'links'],
          additionalProperties: false,
          properties: {
            name: { type: 'string' },
            version: { type: 'string', description: 'The version of the API.' },
            description: { type: 'string' },
            links: {
              type: 'object',
              required: Object.keys(LINKS),
              additionalProperties: false,
              properties: Object.fromEntries(Object.keys(LINKS).map((name) => [name, { type: 'string' }])),
            },
          },
        },
        'text/html': { type: 'string' },
      },
    },
  };
}

/** A client that accepts anything gets JSON. */
function prefersHtml(exchange: Exchange): boolean {
  return exchange.accepts('application/json', 'text/html') === 'text/html';
}

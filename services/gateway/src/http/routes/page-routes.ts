import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Problem } from '@reelgate/platform/problem';
import { openApiDocument } from '../../openapi/document.ts';
import type { Exchange } from '../exchange.ts';
import { securePage } from './page-headers.ts';
import type { RouteEntry } from './route.ts';

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
  url: '/openapi.json', dom_id: '#page', deepLinking: true, docExpansion: 'none', validatorUrl: null,
});
`;
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reelgate API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<main id="page"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** The OpenAPI document, and a page that shows it. The page loads nothing from another host. */
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
      exchange.body = PAGE;
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
  if (type === undefined)
    throw new Problem({
      kind: 'not_found',
      reason: 'not_found',
      message: `no route at ${exchange.path.slice(0, 200)}`,
    });
  exchange.type = type;
  exchange.set('cache-control', 'public, max-age=3600');
  exchange.body = await readFile(path.join(FOLDER, name));
}

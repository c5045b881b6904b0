import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Problem } from '@reelgate/platform/problem';
import { openApiDocument } from '../../openapi/document.ts';
import type { Exchange } from '../exchange.ts';
import type { RouteEntry } from './route.ts';

const TAG = 'About';
const require = createRequire(import.meta.url);
const FOLDER = path.dirname(require.resolve('swagger-ui-dist/package.json'));
/** The only files of the package that are served. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const START = `window.ui = SwaggerUIBundle({ url: '/openapi.json', dom_id: '#page', deepLinking: true, docExpansion: 'none', validatorUrl: null });\n`;
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
<noscript>The interface is described at <a href="/openapi.json">/openapi.json</a>.</noscript>
<main id="page"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** The description of the interface, for programs and for people; everything comes from here, nothing from elsewhere. */
export function pageRoutes(described: readonly RouteEntry[], publicUrl: string): RouteEntry[] {
  const page = (route: string, operationId: string, summary: string, handle: RouteEntry['handle']): RouteEntry => ({
    methods: ['GET'],
    path: route,
    handle,
    doc: { tag: TAG, operationId, summary, answers: {} },
  });
  let text: string | undefined;
  return [
    page('/openapi.json', 'getOpenApi', 'This document', (exchange) => {
      exchange.type = 'application/json; charset=utf-8';
      exchange.body = text ??= JSON.stringify(openApiDocument(described, publicUrl));
    }),
    page('/docs', 'getDocs', 'This document as a page', (exchange) => {
      secure(exchange);
      exchange.type = 'text/html; charset=utf-8';
      exchange.body = PAGE;
    }),
    page('/docs/start.js', 'getDocsStart', 'A part of the page', (exchange) => {
      exchange.type = 'text/javascript; charset=utf-8';
      exchange.body = START;
    }),
    page('/docs/{file}', 'getDocsFile', 'A part of the page', serveFile),
  ];
}

async function serveFile(exchange: Exchange): Promise<void> {
  const name = exchange.params['file'] ?? '';
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (type === undefined)
    throw new Problem({
      kind: 'not_found',
      reason: 'not_found',
      message: `there is nothing at ${exchange.path.slice(0, 200)}`,
    });
  exchange.type = type;
  exchange.set('cache-control', 'public, max-age=3600');
  exchange.body = await readFile(path.join(FOLDER, name));
}

function secure(exchange: Exchange): void {
  exchange.set({ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' });
}

import { hash } from 'node:crypto';
import { toRoot } from '@reelgate/platform/http/path-prefix';
import { findPage } from '../../../console/routes.ts';
import type { Door } from '../../../console/routes.ts';
import { PACKAGES } from './console-files.ts';
import { DOOR_FILES, assetPath } from './select-files.ts';
import type { Assets } from './prepare-assets.ts';

/**
 * The message of a tab until the console draws. It appears after seconds, so it does not flash while the files load.
 */
const UNLOADED = {
  late: 'A file of the console has not arrived. On a slow line it may still come.',
  lost: 'A file of the console cannot be loaded.',
  again: 'Try again',
};

export interface Shell {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The page that every address of the console begins with: it names the modules, which then draw the page. */
export function renderShell(assets: Assets, door: Door, path: string): Shell {
  const base = `${toRoot(path)}console/a/${assets.hash}/`;
  const { start, main, styles, pages } = DOOR_FILES[door];
  const packages = Object.entries(PACKAGES).filter(([, { file }]) => assets.files.has(file));
  const importMap = JSON.stringify({
    imports: Object.fromEntries(packages.map(([name, { file }]) => [name, base + file])),
  });
  const first = [start, main, findPage(pages, path).route.module].map(assetPath);
  const modules = new Set(first.flatMap((name) => [name, ...(assets.files.get(name)?.imports ?? [])]));
  const preloads = [...modules].map((name) => `<link rel="modulepreload" href="${base}${name}">`);
  const html = `<!doctype html>
<html lang="en" data-door="${door}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reelgate</title>
<link rel="icon" href="${base}icon.svg">
${styles.map((style) => `<link rel="stylesheet" href="${base}${style}">`).join('\n')}
<script type="importmap">${importMap}</script>
${preloads.join('\n')}
<script type="module" src="${base}${assetPath(start)}"></script>
</head>
<body>
<noscript>The console needs JavaScript.</noscript>
<div id="console">
<main class="alone unloaded">
<h1>Reelgate</h1>
<p role="alert" data-lost="${UNLOADED.lost}">${UNLOADED.late}</p>
<p><a class="button main" href="">${UNLOADED.again}</a></p>
</main>
</div>
</body>
</html>
`;
  return { html, headers: buildPageHeaders(importMap) };
}

/** The browser runs our modules and the one import map, and connects to this origin. No page can frame it. */
function buildPageHeaders(importMap: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash('sha256', importMap, 'base64')}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "media-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

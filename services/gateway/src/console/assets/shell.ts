import { hash } from 'node:crypto';
import { pageModuleOf } from '../../../console/routes.ts';
import type { Door } from '../../../console/routes.ts';
import { PACKAGES } from './console-files.ts';
import type { Assets } from './prepare-assets.ts';

const START = 'main.ts';
const STYLE = 'style.css';

export interface Shell {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The page that every address of the console begins with: it names the modules, which then draw the page. */
export function shellOf(assets: Assets, door: Door, path: string): Shell {
  const base = `/console/a/${assets.hash}/`;
  const fileOf = (name: string): string => (assets.files.has(name) ? name : name.replace(/\.ts$/, '.js'));
  const importMap = JSON.stringify({
    imports: Object.fromEntries(Object.entries(PACKAGES).map(([name, { file }]) => [name, base + file])),
  });
  const start = fileOf(START);
  const page = fileOf(pageModuleOf(door, path));
  const modules = new Set([start, page].flatMap((name) => [name, ...(assets.files.get(name)?.imports ?? [])]));
  const packages = ['preact', 'preact/hooks', 'htm'].flatMap((name) => PACKAGES[name]?.file ?? []);
  const preloads = [...packages, ...modules].map((name) => `<link rel="modulepreload" href="${base}${name}">`);
  const html = `<!doctype html>
<html lang="en" data-door="${door}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reelgate</title>
<link rel="icon" href="${base}icon.svg">
<link rel="stylesheet" href="${base}${STYLE}">
<script type="importmap">${importMap}</script>
${preloads.join('\n')}
<script type="module" src="${base}${start}"></script>
</head>
<body>
<noscript>The console needs JavaScript.</noscript>
<div id="console"></div>
</body>
</html>
`;
  return { html, headers: headersOf(importMap) };
}

/** The browser runs our modules and the one import map, and connects to this origin. No page can frame it. */
function headersOf(importMap: string): Readonly<Record<string, string>> {
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

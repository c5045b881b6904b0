import { hash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { consoleFiles } from './console-files.ts';

const HASH_CHARACTERS = 16;
const OWN_CODE = /^(?!packages\/).*\.[jt]s$/;
const TYPES: Readonly<Record<string, string>> = {
  ts: 'text/javascript; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
/** Comments that have lines of their own. No template of a page has such a line. */
const COMMENTS = /^[ \t]*(?:\/\*\*?[\s\S]*?\*\/|\/\/.*)[ \t]*\n/gm;
/** No text of a page spans lines, so these say nothing to a browser. */
const INDENTS = /^[ \t]+|[ \t]+$/gm;
const EMPTY_LINES = /\n{2,}/g;
/** A static import of a module of ours. */
const IMPORT = /^\s*(?:import|export)\b[^'"]*?['"](?<specifier>\.{1,2}\/[^'"]+)['"]/gm;

/** A file as browsers get it. */
export interface Asset {
  readonly type: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
  /** The files that it imports when it loads, and those that they import. */
  readonly imports: readonly string[];
}

export interface Assets {
  /** Names this state of all files, so that browsers may keep each for good. */
  readonly hash: string;
  readonly files: ReadonlyMap<string, Asset>;
}

/** Takes the types out of the sources and compresses them. It takes about half a second of processor time. */
export function prepareAssets(): Assets {
  const sources = new Map(
    consoleFiles().map(({ path, text }) => [path, OWN_CODE.test(path) ? thinned(path, text) : text]),
  );
  const files = new Map(
    [...sources].map(([path, text]) => [
      path,
      {
        type: TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
        plain: Buffer.from(text),
        gzip: gzipSync(text, { level: 9 }),
        brotli: brotliCompressSync(text),
        imports: importsOf(path, sources),
      },
    ]),
  );
  const all = [...sources].map(([path, text]) => `${path}\n${text}`).join('\n');
  return { hash: hash('sha256', all, 'hex').slice(0, HASH_CHARACTERS), files };
}

/** In the image the sources have lost their types already. */
function thinned(path: string, text: string): string {
  const code = path.endsWith('.ts') ? stripTypeScriptTypes(text, { mode: 'strip' }) : text;
  return code.replace(COMMENTS, '').replace(INDENTS, '').replace(EMPTY_LINES, '\n');
}

function importsOf(start: string, sources: ReadonlyMap<string, string>): readonly string[] {
  const found = new Set<string>();
  const visit = (path: string): void => {
    for (const { groups } of sources.get(path)?.matchAll(IMPORT) ?? []) {
      const imported = new URL(groups?.['specifier'] ?? '', `file:///${path}`).pathname.slice(1);
      if (found.has(imported) || !sources.has(imported)) continue;
      found.add(imported);
      visit(imported);
    }
  };
  visit(start);
  return [...found];
}

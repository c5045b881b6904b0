import { hash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Door } from '../../../console/routes.ts';
import { consoleFiles } from './console-files.ts';
import { DOOR_FILES, listImports, selectFiles } from './select-files.ts';

const HASH_CHARACTERS = 16;
const TYPES: Readonly<Record<string, string>> = {
  ts: 'text/javascript; charset=utf-8',
  tsx: 'text/javascript; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** A file as browsers get it. */
export interface Asset {
  readonly type: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
  /** The files that it imports when it loads, and those that they import. */
  readonly imports: readonly string[];
}

/** The files of one door. */
export interface Assets {
  /** Names this state of the files of the door, so that browsers may keep each for good. */
  readonly hash: string;
  readonly files: ReadonlyMap<string, Asset>;
}

export type DoorAssets = Readonly<Record<Door, Assets>>;

/** Transforms the sources and compresses them. It takes about half a second of processor time. */
export async function prepareAssets(): Promise<DoorAssets> {
  const sources = new Map((await consoleFiles()).map(({ path, text }) => [path, text]));
  const files = new Map([...sources].map(([path, text]) => [path, compress(path, text, sources)]));
  const assetsOf = (door: Door): Assets => {
    const selected = selectFiles(DOOR_FILES[door], sources);
    const own = [...sources].filter(([path]) => selected.has(path));
    return {
      hash: hash('sha256', own.map(([path, text]) => `${path}\n${text}`).join('\n'), 'hex').slice(0, HASH_CHARACTERS),
      files: new Map([...files].filter(([path]) => selected.has(path))),
    };
  };
  return { client: assetsOf('client'), operator: assetsOf('operator') };
}

function compress(path: string, text: string, sources: ReadonlyMap<string, string>): Asset {
  return {
    type: TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    plain: Buffer.from(text),
    gzip: gzipSync(text, { level: 9 }),
    brotli: brotliCompressSync(text),
    imports: listImports(path, sources),
  };
}

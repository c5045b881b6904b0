import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NewId } from '@reelgate/platform/ids';
import type { Confinement } from '../confinement/confinement.ts';
import { newCodeCache } from './code-cache.ts';
import type { CodeCache } from './code-cache.ts';
import { parserCommand } from './parser-command.ts';
import type { ParserLimits } from './parser-command.ts';
import { createParserFolder, sweepParserFolders } from './parser-folder.ts';
import { startParser } from './parser-process.ts';
import type { Parser } from './parser-process.ts';

/** The packages that the parsers use. */
const PACKAGES = ['sharp', 'file-type', 'mediabunny', 'probe-image-size', '@reelgate/picture-decoder'];
const OWN = ['../', '../../domain/', '../../../package.json'];
/** Far more than the parsers need. */
const PACKAGES_MAX = 500;

const SCRIPT = fileURLToPath(new URL('../child/parse-files.ts', import.meta.url));

/** Starts child processes that parse, as confined as this machine allows. */
export interface Parsers {
  start(limits: ParserLimits): Promise<Parser>;
}

export interface ParsersOptions {
  readonly newId: NewId;
  /**
   * The folder in which the processes find their files. It is on the disk of the files, so that they can be linked, and
   * belongs to one process.
   */
  readonly folder: string;
  /** Returns the confinement of the processes, which is found once. */
  readonly confinement: () => Promise<Confinement>;
  /** The script of the process, by default the script of the parsers. */
  readonly script?: string;
  /** By default a cache in the system's temporary folder. */
  readonly cache?: CodeCache;
}

export function newParsers({
  newId,
  folder,
  confinement,
  script = SCRIPT,
  cache = newCodeCache(),
}: ParsersOptions): Parsers {
  sweepParserFolders(folder);
  let code: readonly string[] | undefined;
  return {
    start: async (limits) => {
      code ??= listReadableCode();
      const confined = await confinement();
      const own = createParserFolder(folder, newId('parser'));
      const compiled = await cache.begin();
      const command = parserCommand({
        ...limits,
        confinement: confined,
        script,
        readable: [...code, script, own.readable],
        writable: own.writable,
        code: compiled?.path,
      });
      return startParser(command, own, compiled);
    },
  };
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * The paths that the child process must read to run: its own code, and the packages that it loads with all that they
 * load.
 */
export function listReadableCode(): readonly string[] {
  const found = new Set<string>();
  const wanted = PACKAGES.map((name) => ({ name, from: fileURLToPath(import.meta.url) }));
  for (let next = wanted.pop(); next !== undefined && found.size < PACKAGES_MAX; next = wanted.pop()) {
    const folder = findPackageFolder(next.name, path.dirname(next.from));
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(path.join(folder, 'package.json'), 'utf8'),
    ) as Manifest;
    wanted.push(
      ...Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => ({
        name,
        from: path.join(folder, 'package.json'),
      })),
    );
  }
  // a workspace is a link: Node reads the link and the target folder
  const packages = new Set([...found].flatMap((folder) => [folder, realpathSync(folder)]));
  return [...OWN.map((own) => fileURLToPath(new URL(own, import.meta.url))), ...packages];
}

/**
 * Resolves a package as Node does: in this folder's packages, then in the packages of the folder above. Returns
 * undefined if the package is for another platform, and not installed.
 */
function findPackageFolder(name: string, from: string): string | undefined {
  const folder = path.join(from, 'node_modules', name);
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const above = path.dirname(from);
  return above === from ? undefined : findPackageFolder(name, above);
}

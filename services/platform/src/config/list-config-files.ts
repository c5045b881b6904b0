import { readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from './config-error.ts';
import { readErrorCode } from './bounded-text.ts';

const SEPARATOR = ':';
const EXTENSION = '.yaml';
const FILES_MAX = 256;

/**
 * The files of the configuration, each once: the named files, and the `*.yaml` files of the named folders in the order
 * of their names. A mounted ConfigMap has hidden folders with the files, and visible links to them. Hidden names are
 * passed over, and links are followed.
 */
export function listConfigFiles(named: string): readonly string[] {
  const names = named.split(SEPARATOR).filter((name) => name !== '');
  const files = names.map((name) => path.resolve(name)).flatMap((name) => (isFolder(name) ? listFolder(name) : [name]));
  const places = files.map(resolveLinks);
  const once = files.filter((_file, at) => places.indexOf(places[at] ?? '') === at);
  if (once.length > FILES_MAX)
    throw new ConfigError(`${named}: has ${once.length} files; expected at most ${FILES_MAX}`);
  return once;
}

function listFolder(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(EXTENSION) && !name.startsWith('.'));
  if (names.length === 0)
    throw new ConfigError(`${folder}: has no *${EXTENSION} file; expected the files of the configuration`);
  return names.toSorted().map((name) => path.join(folder, name));
}

function isFolder(name: string): boolean {
  try {
    return statSync(name).isDirectory();
  } catch (error) {
    throw new ConfigError(`${name}: cannot be read (${readErrorCode(error)}); name the file in REELGATE_CONFIG`);
  }
}

/** Returns the path of the content behind links. A broken link stays as it is; reading it reports the fault. */
function resolveLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

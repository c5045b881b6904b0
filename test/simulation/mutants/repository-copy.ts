import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const PREFIX = 'reelgate-mutants-';
const OF_PROCESS = /^reelgate-mutants-(\d+)-/;
/** The links of the workspaces are relative, so those of a copy lead to the copy. */
const WORKSPACES = '@reelgate';
const LISTED_BYTES_MAX = 16 * 1024 * 1024;

/** A copy of the repository in which a file can be changed while nothing in the working tree is. */
export interface RepositoryCopy {
  readonly folder: string;
  /** Changes a file. Returns a function that changes it back. */
  edit(file: string, change: (source: string) => string): () => void;
}

/** A folder for the copies of this process, which `close` removes. Folders of killed processes are removed too. */
export function openCopies() {
  removeAbandoned();
  const folder = mkdtempSync(path.join(tmpdir(), `${PREFIX}${process.pid}-`));
  return {
    folder,
    add: (name: string): RepositoryCopy => copyRepository(path.join(folder, name)),
    close: (): void => {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export type Copies = ReturnType<typeof openCopies>;

/** The folders that have no effect on what is judged. */
export const WITHOUT_EFFECT = {
  unitTests: /\.md$|^test\/simulation\//,
  seeds: /\.md$|\.test\.ts$|^test\/simulation\/mutants\//,
} as const;

/** Hashes the product and what judges it: without a mutant, what has the same hash does the same. */
export function hashRepository(without: RegExp): string {
  const hash = createHash('sha256');
  for (const file of listFiles().filter((name) => !without.test(name)))
    hash.update(file).update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

function copyRepository(folder: string): RepositoryCopy {
  for (const file of listFiles()) cpSync(path.join(ROOT, file), path.join(folder, file));
  linkPackages(folder);
  return {
    folder,
    edit: (file, change) => {
      const target = path.join(folder, file);
      const source = readFileSync(target, 'utf8');
      writeFileSync(target, change(source));
      return () => {
        writeFileSync(target, source);
      };
    },
  };
}

/** The files of the working tree that are not ignored, with what is not committed yet. */
function listFiles(): readonly string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: LISTED_BYTES_MAX })
    .split('\0')
    .filter((file) => file !== '' && existsSync(path.join(ROOT, file)))
    .sort();
}

/** The packages stay where they are; only the links to the workspaces are those of the copy. */
function linkPackages(folder: string): void {
  const [from, to] = [path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules')];
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === '.cache') continue;
    if (name === WORKSPACES)
      cpSync(path.join(from, name), path.join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(path.join(from, name), path.join(to, name));
  }
  for (const service of readdirSync(path.join(ROOT, 'services'))) {
    const own = path.join('services', service, 'node_modules');
    if (existsSync(path.join(ROOT, own))) symlinkSync(path.join(ROOT, own), path.join(folder, own));
  }
}

function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = OF_PROCESS.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      rmSync(path.join(tmpdir(), name), { recursive: true, force: true });
  }
}

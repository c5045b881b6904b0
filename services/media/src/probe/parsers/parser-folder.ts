import { constants, linkSync, mkdirSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { copyFile, open, rm } from 'node:fs/promises';
import path from 'node:path';

/** The maximum number of bytes of a redrawn picture. The limit of an input, which is checked later, is far lower. */
const DRAWN_BYTES_MAX = 1024 ** 3;
/** Error codes of a link that mean that the file must be copied: it is on another disk, or links are not allowed. */
const NOT_LINKED: ReadonlySet<string> = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'EACCES']);

/** The folder in which a child process finds its files and leaves its picture. It sees no other folder. */
export interface ParserFolder {
  /** The child only reads it. */
  readonly readable: string;
  readonly writable: string;
  readonly drawn: string;
  /** Returns the path of a file that the child parses. Concurrent files are numbered from zero. */
  fileAt(at: number): string;
  /** Gives the child a file, until the folder is cleared. */
  put(source: string, at: number): Promise<void>;
  /** Copies the drawn picture into a file of ours. Returns false if there is no valid picture. */
  take(into: string): Promise<boolean>;
  /** Runs after the jobs, so that the next jobs cannot see their files. It does not throw. */
  clear(): void;
  remove(): Promise<void>;
}

/** Removes the files that the children of an earlier process left behind. The folder belongs to one process. */
export function sweepParserFolders(root: string): void {
  mkdirSync(root, { recursive: true });
  for (const name of readdirSync(root)) rmSync(path.join(root, name), { recursive: true, force: true });
}

export function createParserFolder(root: string, name: string): ParserFolder {
  const folder = path.join(root, name);
  const [readable, writable] = [path.join(folder, 'in'), path.join(folder, 'out')];
  mkdirSync(readable, { recursive: true });
  mkdirSync(writable, { recursive: true });
  const drawn = path.join(writable, 'drawn');
  const fileAt = (at: number): string => path.join(readable, `file-${at}`);
  const given: string[] = [];
  return {
    readable,
    writable,
    drawn,
    fileAt,
    put: (source, at) => {
      const file = fileAt(at);
      given.push(file);
      return linkOrCopy(source, file);
    },
    take: (into) => takeOver(drawn, into),
    clear: () => {
      for (const file of given.splice(0)) quietly(() => unlinkSync(file));
      quietly(() => {
        for (const left of readdirSync(writable)) rmSync(path.join(writable, left), { recursive: true, force: true });
      });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Removes and ignores a failure: a file that cannot be removed goes with the folder. */
function quietly(remove: () => void): void {
  try {
    remove();
  } catch {
    // see above
  }
}

/** Creates a link synchronously: through the thread pool it took longer than most files take to parse. */
async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    linkSync(source, target);
  } catch (error) {
    if (!NOT_LINKED.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
}

/** The file that the child left is not trusted: a symbolic or hard link would lead to another file. */
async function takeOver(drawn: string, into: string): Promise<boolean> {
  const source = await open(drawn, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (source === undefined) return false;
  try {
    const found = await source.stat();
    const { size } = found;
    if (!found.isFile() || found.nlink !== 1 || size === 0 || size > DRAWN_BYTES_MAX) return false;
    const target = await open(into, 'w', 0o600);
    try {
      await target.writeFile(source.createReadStream({ autoClose: false, end: size - 1 }));
    } finally {
      await target.close();
    }
    return true;
  } finally {
    await source.close();
  }
}

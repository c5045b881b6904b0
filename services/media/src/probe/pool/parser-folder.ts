import { constants, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { copyFile, link, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** A picture drawn anew is refused above what an input may have, which is far less. */
const DRAWN_BYTES_MAX = 1024 ** 3;
/** What an attempt to link says where the file must be copied: it lies on another disk, or may not be linked. */
const NOT_LINKED: ReadonlySet<string> = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'EACCES']);

/** Where a child process finds its file and leaves what it draws; it sees no other folder. */
export interface ParserFolder {
  /** Only read. */
  readonly readable: string;
  readonly writable: string;
  /** Of the file that it is given. */
  readonly file: string;
  readonly drawn: string;
  /** Gives it a file, for one job. */
  put(source: string): Promise<void>;
  /** Takes what was drawn over into a file of ours; false: there is none that can be taken. */
  take(into: string): Promise<boolean>;
  /** Behind a job: nothing of a file is seen by the next one. */
  clear(): Promise<void>;
  remove(): Promise<void>;
}

/** What processes left behind that have ended with the one before. The folder belongs to one process. */
export function sweepParserFolders(root: string): void {
  mkdirSync(root, { recursive: true });
  for (const name of readdirSync(root)) rmSync(path.join(root, name), { recursive: true, force: true });
}

export function makeParserFolder(root: string, name: string): ParserFolder {
  const folder = path.join(root, name);
  const [readable, writable] = [path.join(folder, 'in'), path.join(folder, 'out')];
  mkdirSync(readable, { recursive: true });
  mkdirSync(writable, { recursive: true });
  const [file, drawn] = [path.join(readable, 'file'), path.join(writable, 'drawn')];
  return {
    readable, writable, file, drawn,
    put: (source) => linkOrCopy(source, file),
    take: (into) => takeOver(drawn, into),
    clear: async () => {
      await rm(file, { force: true });
      for (const left of await readdir(writable)) await rm(path.join(writable, left), { recursive: true, force: true });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    if (!NOT_LINKED.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
}

/** What the child left is not believed to be its own: a link, of either kind, would lead to a file of somebody else. */
async function takeOver(drawn: string, into: string): Promise<boolean> {
  const source = await open(drawn, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
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

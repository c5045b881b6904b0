import { constants, createWriteStream, existsSync, statSync } from 'node:fs';
import { access, chmod, link, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { newKey } from '@reelgate/platform/ids';
import { CALLER_UMASK } from '../caller-umask.ts';
import { CommandFailed } from '../command.ts';

const NAME_BYTES = 5;
const FILE_MODE = 0o666;

/** Refuses a file that cannot be written, before the task is created and charged. */
export async function checkTarget(file: string, force: boolean): Promise<void> {
  if (existsSync(file)) {
    if (statSync(file).isDirectory()) throw new CommandFailed(`${file} is a folder; expected the name of a file`);
    if (!force) throw new CommandFailed(`${file} exists; give another name, or --force to replace it`);
  }
  try {
    await access(path.dirname(file), constants.W_OK);
  } catch {
    throw new CommandFailed(`${path.dirname(file)} is not a writable folder`);
  }
}

/** Saves the video. The file gets its name once it is complete. Returns its size. */
export async function saveFile(
  bytes: ReadableStream<Uint8Array>,
  file: string,
  { force, stop }: { readonly force: boolean; readonly stop: AbortSignal },
): Promise<number> {
  const unfinished = `${file}.${newKey('part', NAME_BYTES)}`;
  const output = createWriteStream(unfinished, { flags: 'wx', flush: true });
  try {
    await pipeline(Readable.fromWeb(bytes as WebStream), output, { signal: stop });
    await chmod(unfinished, FILE_MODE & ~CALLER_UMASK);
    if (force) await rename(unfinished, file);
    else await nameOnce(unfinished, file);
    return output.bytesWritten;
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Unlike a rename, a link never replaces a file that appeared in the meantime. */
async function nameOnce(unfinished: string, file: string): Promise<void> {
  try {
    await link(unfinished, file);
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'EEXIST')
      throw new CommandFailed(`${file} exists by now; give another name, or --force to replace it`);
    // The file system has no links.
    if (existsSync(file)) throw error;
    await rename(unfinished, file);
  }
}

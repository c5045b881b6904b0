import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** The folders in which packages put servers. The PATH of a user other than root often lacks the first two. */
const USUAL_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/snap/bin'];

/** The full path of a program, searched in `folders`, on the PATH and in the usual places. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const searched = [...folders, ...(process.env['PATH'] ?? '').split(path.delimiter), ...USUAL_FOLDERS];
  return searched
    .filter((folder) => folder !== '')
    .map((folder) => path.join(folder, name))
    .find((file) => isExecutable(file));
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Replaces a file as a whole. A fault, such as a full disk, leaves the file as it was. */
export function replaceFile(file: string, text: string): void {
  const unfinished = `${file}.new`;
  try {
    writeFileSync(unfinished, text);
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}
